"""Checks of the README and the book: length, reading ease, links, code blocks, names, numbers and spelling.

``cargo xtask book`` runs this script. It prints a line for each problem and then fails.
"""

import ast
import re
import subprocess
import sys

import book_numbers
from book_page import ROOT, Page, all_pages

#: Maximum number of words on a page, not counting code and folded parts, and pages that may exceed it.
MOST_WORDS, LONG = 1500, ("references.md", "options.md", "evidence.md", "benchmarks.md")
#: Minimum Flesch reading ease of these pages. Technical texts usually have 50 to 60.
LEAST_EASE = 50.0
TUTORIALS = ("README.md", "introduction.md", "install.md", "tutorial.md", "first-alarms.md", "python-first.md")
#: Languages of blocks that tests run, or that contain output or formulas, and the pages whose Rust code is run. The tests
#: of the program run console and sh, the Python tests run python, and documentation tests run rust.
RUN, RUST = ("console", "sh", "python", "rust", "text"), ("README.md", "rust.md")
#: Pages with blocks that start a server or build the web page.
SERVERS = ("service.md", "deployment.md", "notices.md", "no-install.md")
#: Modules whose public names the page about Python must contain.
MODULES = ("__init__.py", "river.py", "plot.py", "spark/__init__.py")


def too_long(page: Page) -> list[str]:
    words = sum(any(map(str.isalnum, word)) for line in page.lines() for word in line.split())
    return [f"has {words} words, at most {MOST_WORDS} are allowed"] if page.file not in LONG and words > MOST_WORDS else []


def too_hard(page: Page) -> list[str]:
    if page.file not in TUTORIALS or (found := ease(page.paragraphs())) >= LEAST_EASE:
        return []
    return [f"has a reading ease of {found:.0f}, at least {LEAST_EASE} is required: use shorter sentences and words"]


def ease(paragraphs: list[str]) -> float:
    sentences = words = syllables = 0
    for paragraph in paragraphs:
        is_open = False
        for word in paragraph.split():
            letters = "".join(filter(str.isalpha, word))
            words += bool(letters)
            syllables += count_syllables(letters.lower()) if letters else 0
            is_open |= bool(letters)
            if is_open and word.rstrip(')"*_').endswith((".", "!", "?", ":")):
                sentences, is_open = sentences + 1, False
        sentences += is_open
    return 206.835 - 1.015 * words / sentences - 84.6 * syllables / words


def count_syllables(word: str) -> int:
    """Estimate the number of syllables: the groups of vowels, except a silent e at the end."""
    groups = len(re.findall("[aeiouyäöü]+", word))
    is_silent = re.search("(?<!l)e$|(?<![td])ed$", word) is not None
    return max(1, groups - (is_silent and groups > 1))


def broken_links(page: Page) -> list[str]:
    """Return a message for each link to a missing file or heading, and for a page without an entry in the contents."""
    path = ROOT / page.name
    is_listed = f"({page.file})" in (ROOT / "docs/src/SUMMARY.md").read_text("utf-8") or page.file == "SUMMARY.md"
    problems = ["is not in docs/src/SUMMARY.md"] if page.name.startswith("docs/") and not is_listed else []
    for target in re.findall(r"\]\(([^)]*)", page.text):
        file, _, heading = target.partition("#")
        to = path.parent / file if file else path
        leads = "://" in target or (to.exists() and (not heading or heading in anchors(to.read_text("utf-8"))))
        if not leads:
            problems.append(f"the link {target} leads nowhere")
    return problems


def anchors(text: str) -> list[str]:
    headings = [line.lstrip("#").strip().lower() for line in text.splitlines() if line.startswith("#")]
    return [re.sub(r"[^\w -]", "", heading).replace(" ", "-") for heading in headings]


def not_run(page: Page) -> list[str]:
    """Return a message for each block that no test runs and that has no line ``<!-- not run: REASON -->`` above it."""
    problems, is_open, above = [], False, ""
    for line in page.text.splitlines() if page.file not in SERVERS else []:
        if line.startswith("```"):
            language = line[3:]
            is_run = language in RUN and (language != "rust" or page.file in RUST)
            if not (is_open or is_run or above.startswith("<!-- not run: ")):
                problems.append(f'no test runs the block "{language}" after "{above}"')
            is_open = not is_open
        above = line
    return problems


def missing_names() -> list[str]:
    """Return a message for each public name that is missing from the page about Python."""
    words, problems = set(re.findall(r"\w+", (ROOT / "docs/src/python.md").read_text("utf-8"))), []
    for module in MODULES:
        names = public_names((ROOT / "python/eigenhedge" / module).read_text("utf-8"))
        missing = [name for name in names if name not in words and not name.startswith("__")]
        problems += [f"docs/src/python.md lacks {name} of {module}" for name in missing]
    return problems


def public_names(source: str) -> list[str]:
    trees = ast.parse(source).body
    return next(ast.literal_eval(each.value) for each in trees if ast.unparse(each).startswith("__all__ = "))


def misspelled(pages: list[Page]) -> list[str] | None:
    """Return a message for each word that hunspell and docs/words.txt do not know, or None without hunspell."""
    places: dict[str, str] = {}
    # The references contain names of authors and titles in other languages.
    for page in pages:
        for word in words_of(" ".join(page.paragraphs())) if page.file != "references.md" else []:
            places.setdefault(word, page.name)
    call = ["hunspell", "-i", "utf-8", "-d", "en_US", "-l", "-p", str(ROOT / "docs/words.txt")]
    try:
        told = subprocess.run(call, input="\n".join(sorted(places)), capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    unknown = told.stdout.splitlines()
    return [f"{places.get(word, '?')}: {word} is misspelled, or belongs into docs/words.txt" for word in unknown]


def words_of(text: str) -> list[str]:
    """Return the words of at least two Latin letters, without those with digits, Greek letters or symbols."""
    parts = (re.sub(r"^[\W_]+|[\W_]+$", "", word) for word in re.split(r"[\s\-–/×()…]", text))
    words = (re.sub("(['’]s)+$", "", word) for word in parts)
    return [word for word in words if len(word) > 1 and re.fullmatch(r"(?:(?!\d)[a-zA-Zªµº\u00c0-\u024f]|')+", word)]


def main() -> None:
    pages = all_pages()
    checks = (too_long, too_hard, broken_links, not_run)
    problems = [f"{page.name}: {problem}" for page in pages for check in checks for problem in check(page)]
    problems += missing_names() + book_numbers.wrong(pages)
    unknown = misspelled(pages)
    if unknown is None:
        print("skipped: spelling, hunspell is not installed (apt-get install hunspell hunspell-en-us)")
    problems += unknown or []
    if problems:
        sys.exit("\n".join(problems))
    print(f"{len(pages)} pages: length, reading ease, links, blocks, reference and numbers are right")


if __name__ == "__main__":
    main()
