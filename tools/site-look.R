# The steps of tools/site-look, which says what they are for:
#
#   links SITE              checks links of all pages
#   driver SITE FILE        writes a page that opens all others in a frame
#   seen FILE               reads what that page has found
#   frame PAGE W H FILE     writes a page with another one in a frame of that size
#   shots FOLDER [BEFORE]   compares screenshots

read_text <- function(file) {
  paste(readLines(file, encoding = "UTF-8", warn = FALSE), collapse = "\n")
}

pages_of <- function(site) list.files(site, "[.]html$", recursive = TRUE)

# Prints faults, and leaves with an error if there are any.
conclude <- function(faults, good) {
  if (length(faults) == 0L) return(cat("site-look:", good, "\n"))
  cat(paste0("site-look: ", faults, "\n"), sep = "")
  quit(status = 1L)
}

# ---- Links ----

# Returns the values of attributes in a page, but for what stands in its scripts.
attributes_of <- function(text, names) {
  text <- gsub("(?s)<script.*?</script>|<!--.*?-->", "", text, perl = TRUE)
  pattern <- paste0("(?<=\\s)(?:", names, ")=\"[^\"]*\"")
  found <- regmatches(text, gregexpr(pattern, text, perl = TRUE))[[1L]]
  gsub("&amp;", "&", gsub("^[a-z]+=\"|\"$", "", found), fixed = TRUE)
}

# Returns a path from a folder without "." and "..".
path_from <- function(folder, path) {
  steps <- character()
  for (step in strsplit(file.path(folder, path), "/", fixed = TRUE)[[1L]]) {
    steps <- if (step == "..") utils::head(steps, -1L) else c(steps, setdiff(step, c(".", "")))
  }
  paste(steps, collapse = "/")
}

# Returns what is wrong with a link of a page, or "".
fault_of_link <- function(link, page, site, anchors) {
  if (grepl("^(mailto:|data:)", link) || link == "#") return("")
  if (grepl("^[a-z]+:", link)) {
    good <- grepl("^https?://[A-Za-z0-9.-]+[.][a-z]{2,}(:[0-9]+)?([/?#]\\S*)?$", link)
    return(if (good) "" else "is no address")
  }
  parts <- strsplit(sub("[?].*$", "", link), "#", fixed = TRUE)[[1L]]
  path <- utils::URLdecode(parts[1L])
  target <- if (nzchar(path)) path_from(dirname(page), path) else page
  if (dir.exists(file.path(site, target))) target <- file.path(target, "index.html")
  if (!file.exists(file.path(site, target))) return("is not there")
  if (is.na(parts[2L]) || is.null(anchors[[target]])) return("")
  if (utils::URLdecode(parts[2L]) %in% anchors[[target]]) "" else "has no such anchor"
}

check_links <- function(site) {
  pages <- pages_of(site)
  texts <- lapply(file.path(site, pages), read_text)
  anchors <- stats::setNames(lapply(texts, attributes_of, "id|name"), pages)
  count <- 0L
  faults <- unlist(Map(function(page, text) {
    links <- unique(attributes_of(text, "href|src|srcset"))
    count <<- count + length(links)
    why <- vapply(links, fault_of_link, "", page, site, anchors)
    if (any(nzchar(why))) paste0(page, ": \"", links, "\" ", why)[nzchar(why)]
  }, pages, texts))
  conclude(c(unname(faults), walk_from_mgcv(stats::setNames(texts, pages))),
           paste(count, "links of", length(pages), "pages lead somewhere"))
}

# What a reader who knows mgcv looks for on the page of sparsegp(): the words of a row of its table,
# and a word on a page that the row links to.
WANTED <- c("by = g" = "kernel_factor", "offset(z)" = "offset", "bs = \"re\"" = "kernel_factor",
            "bs = \"cc\"" = "kernel_periodic", "te(x, z)" = "te(x, z)", "qgam" = "quantile",
            "forecast" = "forecast", "mvn()" = "coregion", "exclude" = "terms",
            "importance of inputs" = "importance")

# Returns which of these are not one click away.
walk_from_mgcv <- function(texts) {
  page <- texts[["reference/sparsegp.html"]]
  if (is.null(page)) return("there is no page of sparsegp()")
  plain <- function(text) gsub("&quot;", "\"", gsub("<[^>]*>", "", text), fixed = TRUE)
  table <- sub("(?s)^.*id=\"coming-from-mgcv\".*?(<table.*?</table>).*$", "\\1", page, perl = TRUE)
  rows <- regmatches(table, gregexpr("(?s)<tr.*?</tr>", table, perl = TRUE))[[1L]]
  found <- vapply(names(WANTED), function(words) {
    row <- grep(words, vapply(rows, plain, ""), fixed = TRUE)
    links <- grep("^https?:", attributes_of(rows[row], "href"), invert = TRUE, value = TRUE)
    files <- vapply(sub("#.*$", "", links), path_from, "", folder = "reference")
    aims <- texts[intersect(files, names(texts))]
    any(vapply(aims, function(aim) grepl(WANTED[[words]], plain(aim), fixed = TRUE), NA))
  }, NA)
  if (!all(found)) paste("reference/sparsegp.html: no way to", names(WANTED)[!found])
}

# ---- In the browser ----

# What the search box should find: a query, and where one of the first three results leads.
SEARCHES <- c("forecast" = "articles/time-series", "gp_density" = "reference/gp_density",
              "inducing points" = "reference/", "one-vs-rest" = "reference/",
              "calibration" = "reference/calibration", "offset" = "", "mgcv" = "articles/")

quoted <- function(x) paste0("\"", gsub("([\"\\\\])", "\\\\\\1", x), "\"")

DRIVER <- '<!DOCTYPE html><meta charset="utf-8"><iframe id="frame" style="border:0"></iframe>
<pre id="result"></pre><script>
"use strict";
const faults = [];
let shown = 0;
const frame = document.getElementById("frame");

function load(page, width) {
  return new Promise(function (done) {
    frame.style.width = width + "px";
    frame.style.height = "900px";
    frame.onload = function () { setTimeout(done, 50); };
    frame.src = SITE + "/" + page;
  });
}

// Has the element an ancestor, or itself, in which it scrolls?
function scrolls(element) {
  for (let e = element; e && e.tagName !== "BODY"; e = e.parentElement) {
    const style = frame.contentWindow.getComputedStyle(e);
    if (/auto|scroll|hidden/.test(style.overflowX)) return true;
  }
  return false;
}

function smallest(root) {
  const walker = frame.contentDocument.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  let least = [99, ""];
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim();
    const parent = walker.currentNode.parentElement;
    if (!text || parent.closest("math, sup, sub, button, script, style")) continue;
    const size = parseFloat(frame.contentWindow.getComputedStyle(parent).fontSize);
    if (size < least[0]) least = [size, text.slice(0, 30)];
  }
  return least;
}

async function look(page, width) {
  await load(page, width);
  const inside = frame.contentDocument;
  const say = function (words) { faults.push(page + " at " + width + " pixels: " + words); };
  shown += 1;
  const wide = inside.documentElement.scrollWidth;
  if (wide > width) {
    let who = "";
    inside.querySelectorAll("body *").forEach(function (e) {
      if (!who && e.getBoundingClientRect().right > width + 1 && !scrolls(e.parentElement)) {
        who = e.tagName.toLowerCase() + " " + e.textContent.trim().slice(0, 30);
      }
    });
    say("is " + wide + " pixels wide (" + who + ")");
  }
  inside.querySelectorAll("main table, main pre, main math, main img").forEach(function (e) {
    const out = e.getBoundingClientRect().right > width + 1 || e.scrollWidth > e.clientWidth + 1;
    if (e.tagName !== "math" && out && e.clientWidth && !scrolls(e)) {
      say(e.tagName.toLowerCase() + " sticks out: " + e.textContent.trim().slice(0, 30));
    }
    if (e.tagName === "IMG" && e.complete && !e.naturalWidth) say("no picture " + e.src);
  });
  const least = smallest(inside.querySelector("main") || inside.body);
  if (least[0] < 11) say("letters of " + least[0] + " pixels: " + least[1]);
}

async function search(page, query, aim) {
  await load(page, 1280);
  const input = frame.contentDocument.getElementById("search-input");
  if (!input) { faults.push(page + " has no search box"); return; }
  input.dispatchEvent(new Event("focus"));
  input.value = query;
  input.dispatchEvent(new Event("input"));
  let found = [];
  for (let i = 0; i < 100 && !found.length; i += 1) {
    await new Promise(function (done) { setTimeout(done, 50); });
    found = Array.from(frame.contentDocument.querySelectorAll("ul.search-results a"));
  }
  found = found.map(function (e) { return e.href.replace(SITE + "/", ""); });
  if (!found.slice(0, 3).some(function (e) { return e.startsWith(aim); })) {
    faults.push("search of " + page + ": \\"" + query + "\\" finds " +
                (found.slice(0, 3).join(", ") || "nothing"));
  }
  found.forEach(function (e) {
    if (!PAGES.includes(e.replace(/#.*/, ""))) faults.push("search finds no page: " + e);
  });
}

(async function () {
  for (const width of [1280, 390]) for (const page of PAGES) await look(page, width);
  for (const page of ["index.html", "articles/index.html", "reference/sparsegp.html"]) {
    for (const pair of SEARCHES) await search(page, pair[0], pair[1]);
  }
  const all = faults.concat(["looked at " + shown]);
  document.getElementById("result").textContent = all.join("\\n");
  frame.remove();
})();
</script>'

write_driver <- function(site, file) {
  list <- function(x) paste0("[", paste(x, collapse = ", "), "]")
  pairs <- paste0("[", quoted(names(SEARCHES)), ", ", quoted(SEARCHES), "]")
  values <- c(paste0("const SITE = ", quoted(paste0("file://", site)), ";"),
              paste0("const PAGES = ", list(quoted(pages_of(site))), ";"),
              paste0("const SEARCHES = ", list(pairs), ";"))
  parts <- strsplit(DRIVER, "\"use strict\";\n", fixed = TRUE)[[1L]]
  writeLines(c(parts[1L], "\"use strict\";", values, parts[2L]), file)
}

read_seen <- function(file) {
  text <- read_text(file)
  found <- sub("(?s)^.*<pre id=\"result\">(.*?)</pre>.*$", "\\1", text, perl = TRUE)
  lines <- strsplit(gsub("&lt;", "<", gsub("&amp;", "&", found, fixed = TRUE)), "\n")[[1L]]
  last <- lines[length(lines)]
  if (length(lines) == 0L || !grepl("^looked at [0-9]+$", last)) {
    conclude("the browser did not come to the end", "")
  }
  conclude(lines[-length(lines)], paste0("pages ", last, " times, and the search box finds"))
}

# ---- Screenshots ----

write_frame <- function(page, width, height, file) {
  writeLines(paste0("<!DOCTYPE html><meta charset=\"utf-8\"><style>html, body { margin: 0 } ",
                    "iframe { border: 0; width: ", width, "px; height: ", height, "px }</style>",
                    "<meta name=\"color-scheme\" content=\"light dark\">",
                    "<iframe src=\"file://", page, "\"></iframe>"), file)
}

# Returns the proportion of pixels that differ visibly, in the part that both pictures have.
differing <- function(now, before) {
  a <- png::readPNG(now)
  b <- png::readPNG(before)
  rows <- seq_len(min(nrow(a), nrow(b)))
  columns <- seq_len(min(ncol(a), ncol(b)))
  change <- abs(a[rows, columns, 1:3] - b[rows, columns, 1:3])
  mean(apply(change, 1:2, max) > 16 / 255)
}

compare_shots <- function(folder, before = "") {
  files <- list.files(folder, "[.]png$")
  blank <- Filter(function(file) {
    stats::sd(png::readPNG(file.path(folder, file))[, , 1:3]) < 0.01
  }, files)
  for (file in intersect(files, if (nzchar(before)) list.files(before))) {
    share <- differing(file.path(folder, file), file.path(before, file))
    cat(sprintf("site-look: %s: %.1f per cent of pixels differ\n", file, 100 * share))
  }
  conclude(sprintf("%s: nothing is seen", blank), paste(length(files), "screenshots in", folder))
}

run <- function(step, ...) {
  steps <- list(links = check_links, driver = write_driver, seen = read_seen, frame = write_frame,
                shots = compare_shots)
  steps[[step]](...)
}

if (sys.nframe() == 0L) do.call(run, as.list(commandArgs(TRUE)))
