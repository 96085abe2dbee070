# SPDX-License-Identifier: MIT
"""MkDocs hooks: links from the manual to files of the checkout become the files' names, and the
pages of profiles, which the program writes, may be missing."""

import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File

LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)")


PROFILES = "reference/profiles/index.md"


def on_files(files, config):
    if not files.get_file_from_path(PROFILES):
        text = "# Profiles\n\nThe program writes these pages: `tools/build.sh release occupipe`, then `tools/site.sh`.\n"
        files.append(File.generated(config, PROFILES, content=text))
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
