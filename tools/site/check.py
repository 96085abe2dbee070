# SPDX-License-Identifier: MIT
"""Checks of the manual: its pages' blocks, the built site's links and pictures, the explorer's numbers.

check.py [--run FOLDER_OF_PROGRAMS] [--pages] [--site FOLDER] [--browser PROGRAM]
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import unicodedata
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

root = Path(__file__).resolve().parents[2]
faults = []
languages = {"sh", "text", "yaml", "json", "python", "c++", "c"}


def fault(where, what):
    faults.append(f"{where}: {what}")


def manual():
    """Its hand-written pages: the reference is made and checked by its own programs."""
    pages = [p for p in (root / "docs").rglob("*.md") if "reference" not in p.parts]
    return sorted(p for p in pages if p.name != "file-formats.md") + [root / "README.md"]


def blocks(page):
    """(line, language, title, text) of every fenced block."""
    found, inside = [], None
    for number, line in enumerate(page.read_text().splitlines(), 1):
        fence = re.match(r"( *)```(.*)$", line)
        if fence and inside is None:
            info = fence[2].strip()
            title = re.search(r'title="([^"]*)"', info)
            inside = [number, info.split(" ")[0], title and title[1], [], len(fence[1])]
        elif fence:
            found.append((*inside[:3], "\n".join(inside[3]) + "\n"))
            inside = None
        elif inside is not None:
            inside[3].append(line[inside[4]:])
    if inside:
        fault(f"{page}:{inside[0]}", "a block that does not end")
    return found


def anchors(page):
    """Of its headings, as MkDocs makes them."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", page.read_text(), flags=re.S), re.M):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        plain = unicodedata.normalize("NFKD", plain).encode("ascii", "ignore").decode()
        found.add(re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower()))
    return found


def check_pages():
    link = re.compile(r"\]\(([^)\s]+)\)")
    for page in manual():
        text = page.read_text()
        name = page.relative_to(root)
        for number, language, title, _ in blocks(page):
            if language not in languages:
                fault(f"{name}:{number}", f"a block of '{language}'; must be one of {sorted(languages)}")
            if title and language != "sh":
                fault(f"{name}:{number}", "only a block of sh has a title")
        outside = re.sub(r"```.*?```", "", text, flags=re.S)
        for target in link.findall(outside):
            if re.match(r"[a-z]+:", target):
                continue
            file, _, anchor = target.partition("#")
            path = (page.parent / unquote(file)).resolve() if file else page
            if not path.exists():
                if root / "docs/reference" not in path.parents:
                    fault(name, f"no file {target}")
            elif anchor and path.suffix == ".md" and anchor not in anchors(path):
                fault(name, f"no heading for {target}")
        for alt in re.findall(r"!\[([^\]]*)\]", outside):
            if not alt:
                fault(name, "a picture without a text")


def lines_of(text):
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def missing_lines(shown, printed):
    """Lines of a text block that its commands did not print; "…" stands for anything.

    Where a value has an error, its digits depend on how many repetitions there was time for.
    """
    printed = lines_of(printed)
    for line in lines_of(shown):
        pattern = ".*".join(re.escape(part.strip()) for part in line.split("…"))
        if "±" in line:
            pattern = re.sub(r"(\\[+-])?\d+(\\.\d+)?", r"[+-]?[\\d.]+", pattern)
        if not any(re.fullmatch(pattern, other) for other in printed):
            yield line


def run_pages(programs):
    """Every sh block without a title, page by page, in a folder that looks like a checkout.

    A text block behind it is what it prints. What compilers other than that of the manual make of a
    kernel is not compared.
    """
    count = 0
    version = subprocess.run([programs / "occupipe", "--version"], capture_output=True, text=True).stdout
    compiles = "libnvrtc" in version
    same_compiler = "NVRTC 13.0" in version
    for page in manual():
        name = page.relative_to(root)
        with tempfile.TemporaryDirectory() as folder:
            for entry in root.iterdir():
                if entry.name not in {"out", "build", ".git"}:
                    (Path(folder) / entry.name).symlink_to(entry)
            (Path(folder) / "out").mkdir()
            environment = dict(os.environ, PATH=f"{programs}:{os.environ['PATH']}", CUDA_VISIBLE_DEVICES="")
            environment["OCCUPIPE_CACHE"] = "none"
            printed = None
            for number, language, title, text in blocks(page):
                if language == "text" and printed is not None:
                    for line in missing_lines(text, printed):
                        fault(f"{name}:{number}", f"the commands above do not print '{line}'")
                printed = None
                if language != "sh" or title:
                    continue
                if not compiles and re.search(r"\.cu\b|--arch", text):
                    continue
                count += 1
                done = subprocess.run(["bash", "-euo", "pipefail", "-c", text], cwd=folder, env=environment,
                                      capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=900)  # fmt: skip
                if done.returncode:
                    fault(f"{name}:{number}", f"exit code {done.returncode}: {done.stderr[-600:]}")
                elif same_compiler or not compiles:
                    printed = done.stdout + done.stderr
    print(f"check: {count} blocks of commands were run", file=sys.stderr)


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.ids, self.loads = [], set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        of = dict(attributes)
        if of.get("id"):
            self.ids.add(of["id"])
        if tag == "a" and of.get("href"):
            self.links.append(of["href"])
        if tag in {"img", "script"} and of.get("src"):
            self.loads.append(of["src"])
        if tag == "link" and of.get("rel") in {"stylesheet", "icon"}:
            self.loads.append(of["href"])


def check_site(site):
    pages = {p: Page(p.read_text()) for p in site.rglob("*.html") if p.name != "404.html"}
    for path, page in pages.items():
        name = path.relative_to(site)
        for source in page.loads:
            if re.match(r"(https?:)?//", source):
                fault(name, f"loads {source} from the network")
            elif not source.startswith("data:") and not (path.parent / source.partition("?")[0]).exists():
                fault(name, f"no {source}")
        for href in page.links:
            if re.match(r"[a-z]+:", href):
                continue
            target, _, anchor = unquote(href).partition("#")
            goal = (path.parent / target).resolve() if target else path
            if goal.is_dir():
                goal /= "index.html"
            if not goal.exists():
                fault(name, f"dead link {href}")
            elif anchor and goal in pages and anchor not in pages[goal].ids and anchor != "__skip":
                fault(name, f"no heading {href}")
    print(f"check: {len(pages)} pages of the site", file=sys.stderr)


# Worked out by hand: t(M) = N Λ + (M-1) λ before the ridge, Λ + (N M - 1) λ beyond it, N = 64.
explorer = [
    ("warps=8&lambda=1&latency=20&chains=1", {"cycles": "1287", "per": "2.51367", "limit": "latency"}),
    ("warps=32&lambda=1&latency=20&chains=1", {"cycles": "2067", "per": "1.00928", "limit": "throughput"}),
    ("warps=4&lambda=0.5&latency=4&chains=2", {"inflight": "8", "ridge": "8", "cycles": "259.5", "limit": "throughput"}),
    ("warps=1&lambda=18&latency=450&chains=1", {"cycles": "28800", "per": "450", "busy": "4"}),
    ("warps=32&lambda=18&latency=450&chains=1", {"cycles": "37296", "per": "18.2109", "limit": "throughput"}),
]  # fmt: skip


def check_explorer(site, browser):
    page = site / "background/pipeline-explorer.html"
    for given, wanted in explorer:
        shown = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
                                f"{page.as_uri()}#{given}"], capture_output=True, text=True, timeout=120).stdout  # fmt: skip
        for key, value in wanted.items():
            found = re.search(rf'id="pe-{key}">([^<]*)<', shown)
            if not found or found[1] != value:
                fault(f"explorer, {given}", f"{key} is {found and found[1]}, not {value}")
        if shown.count('class="busy"') < 3 or 'class="curve"' not in shown:
            fault(f"explorer, {given}", "no picture")
    print(f"check: {len(explorer)} states of the explorer", file=sys.stderr)


options = argparse.ArgumentParser()
options.add_argument("--pages", action="store_true")
options.add_argument("--run", type=Path)
options.add_argument("--site", type=Path)
options.add_argument("--browser")
asked = options.parse_args()
if asked.pages:
    check_pages()
if asked.run:
    run_pages(asked.run.resolve())
if asked.site:
    check_site(asked.site.resolve())
    if asked.browser:
        check_explorer(asked.site.resolve(), asked.browser)
for line in faults:
    print(f"check: {line}", file=sys.stderr)
sys.exit(1 if faults else 0)
