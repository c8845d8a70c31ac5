"""Pages of the book and the README, and their prose without code, tables and markup."""

import pathlib
import re

ROOT = pathlib.Path(__file__).parents[1]


class Page:
    def __init__(self, name: str, text: str) -> None:
        self.name, self.text, self.file = name, text, name.rsplit("/", 1)[-1]

    def lines(self) -> list[str]:
        """Return the lines outside code blocks, comments and folded details."""
        lines, is_code, is_folded = [], False, False
        for line in self.text.splitlines():
            is_fence = line.lstrip().startswith("```")
            is_code ^= is_fence
            is_folded |= line.startswith("<details>")
            if not (is_fence or is_code or is_folded or line.startswith("<!--")):
                lines.append(line)
            is_folded &= not line.startswith("</details>")
        return lines

    def paragraphs(self) -> list[str]:
        """Return the prose, with the word "code" for inline code, so that sentences keep their length."""
        paragraphs = [""]
        for line in map(str.strip, self.lines()):
            is_prose = bool(line) and line[0] not in "#|!<"
            item = re.match(r"[-*] |\+?[0-9]+\. ", line)
            if item or not is_prose:
                paragraphs.append("")
            if is_prose:
                paragraphs[-1] += line[item.end() if item else 0 :] + " "
        return [strip(re.sub("<!--.*?(-->|$)", "", text), "code") for text in paragraphs if text.strip()]


def strip(text: str, code: str = "") -> str:
    """Return a text without emphasis and link targets. ``code`` replaces inline code."""
    return re.sub(r"`([^`]*`)?|\](\([^)]*\))?|[*\[]", lambda found: code if found[0][0] == "`" else "", text)


def all_pages() -> list[Page]:
    paths = [ROOT / "README.md", *sorted((ROOT / "docs" / "src").glob("*.md"))]
    return [Page(path.relative_to(ROOT).as_posix(), path.read_text("utf-8")) for path in paths]
