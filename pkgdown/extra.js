// What pages of the website do: contents at the right, copy buttons, and the search box. It needs
// no other server: the index, search.js, is a script, which pages that are opened as files find.
// pkgdown's own script, which tools/site.R leaves out, takes seven others from the network.
(function () {
  "use strict";

  function make(tag, attributes, text) {
    var element = document.createElement(tag);
    Object.keys(attributes).forEach(function (name) {
      element.setAttribute(name, attributes[name]);
    });
    if (text) element.textContent = text;
    return element;
  }

  // ---- Contents ----

  function fillContents(nav) {
    var list = make("ul", { class: "nav flex-column" });
    document.querySelectorAll("main h2, main h3").forEach(function (heading) {
      var id = heading.id || (heading.parentNode.id || "");
      if (!id || heading.closest("nav")) return;
      var item = make("li", { class: "toc-" + heading.tagName.toLowerCase() });
      var text = heading.textContent.trim();
      item.appendChild(make("a", { class: "nav-link", href: "#" + id }, text));
      list.appendChild(item);
    });
    if (list.children.length) nav.appendChild(list);
    else nav.remove();
  }

  // ---- Copy buttons ----

  function copyText(text) {
    if (navigator.clipboard && window.isSecureContext) return navigator.clipboard.writeText(text);
    var area = make("textarea", { style: "position:fixed;opacity:0" });
    area.value = text;
    document.body.appendChild(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    return Promise.resolve();
  }

  function addCopyButton(block) {
    var button = make("button", { type: "button", class: "btn btn-copy-ex" }, "Copy");
    button.addEventListener("click", function () {
      var code = block.querySelector("pre").textContent.replace(/^#>.*\n?/gm, "");
      copyText(code).then(function () { button.textContent = "Copied"; });
    });
    block.classList.add("hasCopyButton");
    block.insertBefore(button, block.firstChild);
  }

  // ---- Search ----

  // Words of a query, and of pages, as they are compared: without case and accents.
  function plain(text) {
    return (text || "").toLowerCase().normalize("NFD").replace(/[\u0300-\u036f]/g, "");
  }

  // How well does a word fit a field? A whole word is worth more than its beginning.
  function fit(word, field) {
    var at = field.indexOf(word);
    if (at < 0) return 0;
    var bounded = new RegExp("(^|[^a-z0-9])" + word.replace(/[^a-z0-9]/g, "\\$&"));
    if (!bounded.test(field)) return 0.3;
    return new RegExp(bounded.source + "($|[^a-z0-9])").test(field) ? 1 : 0.7;
  }

  function score(entry, words) {
    var total = 0;
    var hits = 0;
    words.forEach(function (word) {
      var found = 8 * fit(word, entry.plain.what) + 4 * fit(word, entry.plain.title) +
        2 * fit(word, entry.plain.text) + fit(word, entry.plain.code);
      if (found > 0) hits += 1;
      total += found;
    });
    // pages on the package's insides come after those on its use
    var inside = /^(RESULTS|ARCHITECTURE|CONTRIBUTING|news)/.test(entry.path) ? 0.4 : 1;
    return 100 * hits + total * inside * (/^reference/.test(entry.path) ? 1.3 : 1);
  }

  // The best entries, of those that have the most words of the query; two of a page at most.
  function search(index, query) {
    var words = plain(query).split(/[^a-z0-9_.]+/).filter(function (word) {
      return word.length > 1;
    });
    var found = index.map(function (entry) {
      return { entry: entry, score: score(entry, words) };
    }).filter(function (hit) { return hit.score >= 100; });
    found.sort(function (a, b) { return b.score - a.score; });
    var least = found.length ? 100 * Math.floor(found[0].score / 100) : 0;
    var pages = {};
    return found.filter(function (hit) {
      var page = hit.entry.path.replace(/#.*/, "");
      pages[page] = (pages[page] || 0) + 1;
      return hit.score >= least && pages[page] < 3;
    }).slice(0, 12);
  }

  function prepared(entries) {
    return entries.filter(function (entry) {
      return typeof entry.path === "string"; // pkgdown has entries of nothing
    }).map(function (entry) {
      var path = entry.path.replace(/^https?:\/\/[^/]*/, "").replace(/^\//, "");
      return {
        path: path + (entry.id ? "#" + entry.id : ""), what: entry.what, title: entry.title,
        plain: { what: plain(entry.what), title: plain(entry.title), text: plain(entry.text),
                 code: plain(entry.code) }
      };
    });
  }

  function searchBox(input) {
    var index = null;
    var root = input.getAttribute("data-search-index").replace(/search\.json$/, "");
    var form = input.form;
    var list = make("ul", { class: "search-results", role: "listbox", id: "search-results" });
    input.setAttribute("aria-label", "Search");
    input.setAttribute("aria-controls", "search-results");
    input.parentNode.appendChild(list);

    function show() {
      list.textContent = "";
      if (!index || input.value.trim().length < 2) return;
      var hits = search(index, input.value);
      hits.forEach(function (hit) {
        var item = make("li", { role: "option" });
        var link = make("a", { href: root + hit.entry.path });
        link.appendChild(make("span", { class: "search-what" }, hit.entry.what));
        if (hit.entry.title !== hit.entry.what) {
          link.appendChild(make("span", { class: "search-title" }, hit.entry.title));
        }
        item.appendChild(link);
        list.appendChild(item);
      });
      if (!hits.length) list.appendChild(make("li", { class: "search-none" }, "Nothing found"));
    }

    function load() {
      if (index || document.getElementById("search-index")) return;
      var script = make("script", { src: root + "search.js", id: "search-index" });
      script.onload = function () {
        index = prepared(window.siteIndex);
        show();
      };
      document.head.appendChild(script);
    }

    function step(by) {
      var links = Array.prototype.slice.call(list.querySelectorAll("a"));
      if (!links.length) return;
      var at = links.indexOf(document.activeElement) + by;
      (at < 0 ? input : links[Math.min(at, links.length - 1)]).focus();
    }

    input.addEventListener("focus", load);
    input.addEventListener("input", function () {
      load();
      show();
    });
    form.addEventListener("submit", function (event) {
      event.preventDefault();
      var first = list.querySelector("a");
      if (first) window.location.href = first.href;
    });
    form.addEventListener("keydown", function (event) {
      if (event.key === "ArrowDown") step(1);
      else if (event.key === "ArrowUp") step(-1);
      else if (event.key === "Escape") list.textContent = "";
      else return;
      event.preventDefault();
    });
    document.addEventListener("click", function (event) {
      if (!form.contains(event.target)) list.textContent = "";
    });
  }

  document.addEventListener("DOMContentLoaded", function () {
    var nav = document.getElementById("toc");
    if (nav) fillContents(nav);
    document.querySelectorAll("div.sourceCode").forEach(addCopyButton);
    var input = document.getElementById("search-input");
    if (input) searchBox(input);
  });
})();
