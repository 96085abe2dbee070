# SPDX-License-Identifier: MIT
"""MkDocs hooks: links from the manual to files of the checkout become the files' names, and pages
of the reference that are not there are empty, so that the rest can be built without them."""

import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File

LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)")


FORMATS = ["index", "kernel", "launch-file", "measurements", "profile", "results", "search-space", "sweep", "workload"]
REFERENCE = ["index", "commands", "earlier-names", "instructions", "models", "profiles/index"]
REFERENCE += [f"file-formats/{name}" for name in FORMATS]


def on_files(files, config):
    for name in REFERENCE:
        path = f"reference/{name}.md"
        if not files.get_file_from_path(path):
            files.append(File.generated(config, path, content="# Not built\n"))
    return files


def on_page_markdown(markdown, page, config, files):
    folder = posixpath.join("docs", posixpath.dirname(page.file.src_uri))
    root = Path(config.docs_dir).parent
    fenced = False
    lines = []

    def plain(match):
        text, target = match.groups()
        if re.match(r"[a-z]+:|#", target):
            return match[0]
        path = posixpath.normpath(posixpath.join(folder, target.partition("#")[0]))
        if path == "docs" or path.startswith("docs/"):
            return match[0]
        if not (root / path).exists():  # strict building stops at the link
            return match[0]
        name = text.strip("`")
        return f"`{path}`" if posixpath.basename(path) in name else f"{text} (`{path}`)"

    for line in markdown.split("\n"):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        lines.append(line if fenced else LINK.sub(plain, line))
    return "\n".join(lines)
