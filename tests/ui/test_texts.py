"""What stands on the page is for people: none of our options, file paths and quotes."""

import re
from html import unescape

from ui_app import app, page_text, tab

from advisor.catalog.inputs import INPUTS

PC = "gaming PC with a 3060 12GB and 32 GB RAM"
CASES = {
    "fits": {"model": "Qwen3-8B", "machine": PC},
    "slow in RAM": {"model": "Gemma-3-27B", "machine": PC},
    "drive only": {"model": "Llama-3.3-70B", "machine": "gaming PC, 3060 12GB, 16 GB RAM"},
    "nothing fits": {"model": "Kimi-K2", "machine": "RTX 4060 8GB, 16 GB RAM", "disk_gbs": "0.5"},
    "Mac": {"model": "Qwen3-32B", "machine": "MacBook Pro M4 Pro 24GB"},
    "experts": {"model": "gpt-oss-120b", "machine": "3060 12GB, 64 GB RAM"},
    "eight users": {"model": "Llama-3.1-8B", "machine": "RTX 3090 with 64 GB RAM", "users": "8"},
    "no GPU": {"model": "Llama-3.1-8B", "machine": "no graphics card, 32 GB DDR4"},
}
WRONG = (
    {"machine": "rtx 9090 with 32 GB RAM"}, {"machine": "my toaster"}, {"machine": "laptop"},
    {"machine": "Mac"}, {"machine": "3060, 999999 GB RAM"}, {"machine": "'; drop table"},
    {"machine": "TPU v5e"}, {"machine": "iPhone 17"}, {"model": "chatgpt"}, {"model": "nobody-x"},
    {"model": "gemma 27"}, {"model": "flux.1-dev"}, {"model": "/etc/passwd"},
    {"model": "{not a config"}, {"model": "x" * 1200}, {"format": "Q9_Z"}, {"context": "-5"},
    {"context": "many"}, {"users": "0"}, {"ram_gb": "lots"},
)  # fmt: skip
TABS = ("Run it", "What it costs", "Where the time goes", "All runtimes", "Sources")
PROGRAMS = {
    "an option": re.compile("|".join(rf"--{name.replace('_', '-')}\b" for name in INPUTS)),
    "a path of the program": re.compile(r"\b(?:data|advisor|tests|docs)/\w[\w/.-]*"),
    "a quote of Python": re.compile(r"(?<!\w)'[^'\n]{1,80}'(?!\w)"),
    "a word of Python": re.compile(r"\b(?:None(?! of)|True|False|NaN|nan|Traceback)\b"),
}


def told(test):
    """Words of a page and of its labels and tooltips, without commands that are to be copied."""
    html = re.sub(r"<pre.*?</pre>|<code>.*?</code>", " ", page_text(test), flags=re.DOTALL)
    titles = " ".join(re.findall(r"title='([^']*)'", html))
    widgets = (*test.button, *test.selectbox, *test.text_input, *test.number_input, *test.toggle)
    words = (f"{widget.label} {getattr(widget, 'help', '') or ''}" for widget in widgets)
    return unescape(f"{re.sub(r'<[^>]*>', ' ', html)} {titles} {' '.join(words)}")


def strange(test):
    """Words of programs on a page, with what they are."""
    text = told(test)
    return [(kind, sign[0]) for kind, form in PROGRAMS.items() for sign in form.finditer(text)]


def test_no_answer_speaks_of_options_paths_or_values_of_a_program():
    seen = {}
    for case, question in CASES.items():
        test = app(**question)
        for title in TABS:
            seen[case, title] = strange(tab(test, title))
    assert {place: words for place, words in seen.items() if words} == {}


def test_no_refusal_does():
    seen = {str(question)[:60]: strange(app(**question)) for question in WRONG}
    assert {question: words for question, words in seen.items() if words} == {}
