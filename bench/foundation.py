"""What pretrained networks predict of the samples that foundation.R has written.

    python bench/foundation.py FOLDER

Uses the packages tabpfn (numbers and labels) and tabicl (labels), whichever can be imported, with
their own settings. Writes METHOD.csv beside each sample; foundation.R says what is in it. A sample
that has this file already is left alone.
"""
import pathlib
import sys
import time

import numpy as np
import pandas as pd

LEAST = 1e-6  # a probability that is lower counts as this


def number_scores(model, x, new, y):
    """Density, error and coverage of the test observations; y in its own unit."""
    import torch

    found = model.fit(x["inputs"], x["response"]).predict(new, output_type="full")
    law, logits = found["criterion"], found["logits"]
    density = -law(logits, torch.as_tensor(y, dtype=logits.dtype)).detach().numpy()
    lower, upper = (law.icdf(logits, at).detach().numpy() for at in (0.05, 0.95))
    return pd.DataFrame({"density": density.ravel(), "error": found["mean"] - y,
                         "inside": ((y > lower) & (y < upper)).astype(int)})


def label_scores(model, x, new, y):
    """Log probability of each label, and whether the most probable one is wrong."""
    model.fit(x["inputs"], x["response"])
    prob = np.maximum(model.predict_proba(new), LEAST)
    prob /= prob.sum(axis=1, keepdims=True)
    place = {label: k for k, label in enumerate(model.classes_)}
    own = np.array([place[label] for label in y])
    return pd.DataFrame({"density": np.log(prob[np.arange(len(y)), own]),
                         "error": (prob.argmax(axis=1) != own).astype(float),
                         "inside": np.nan})


def methods():
    """{kind: {name: function that makes a model}} of the packages that are installed."""
    found = {"number": {}, "class": {}}
    try:
        from tabpfn import TabPFNClassifier, TabPFNRegressor
        found["number"]["tabpfn"] = TabPFNRegressor
        found["class"]["tabpfn"] = TabPFNClassifier
    except ImportError:
        print("tabpfn is not installed: left out")
    try:
        from tabicl import TabICLClassifier
        found["class"]["tabicl"] = TabICLClassifier
    except ImportError:
        print("tabicl is not installed: left out")
    return found


def read_sample(folder, kind):
    """Training inputs and responses, test inputs and responses: text columns are categories."""
    parts = []
    for name in ("train.csv", "test.csv"):
        rows = pd.read_csv(folder / name)
        y = rows.iloc[:, 0].to_numpy(dtype=float if kind == "number" else str)
        parts.append((rows.iloc[:, 1:], y))
    (x, y), (new, new_y) = parts
    for column in x.columns[[not pd.api.types.is_numeric_dtype(t) for t in x.dtypes]]:
        levels = pd.CategoricalDtype(sorted(x[column].astype(str).unique()))
        x[column] = x[column].astype(str).astype(levels)
        new[column] = new[column].astype(str).astype(levels)
    return {"inputs": x, "response": y}, new, new_y


def main(folder):
    known = methods()
    for sample in sorted(path.parent for path in folder.glob("*/train.csv")):
        kind = (sample / "kind.txt").read_text().strip()
        x, new, y = read_sample(sample, kind)
        for name, make in known[kind].items():
            file = sample / (name + ".csv")
            if file.exists():
                continue
            scores = number_scores if kind == "number" else label_scores
            begin = time.process_time()
            try:
                table = scores(make(), x, new, y)
            except Exception as why:  # too many classes, or columns, for the network
                print(sample.name, name, "failed:", why)
                continue
            table["seconds"] = time.process_time() - begin
            table.to_csv(file, index=False)
            print(sample.name, name, table["density"].mean())


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
