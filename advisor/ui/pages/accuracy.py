"""The page How we know: accuracy, method, claims of articles, workshop."""

from advisor.ui.accuracy import page

page.shown(page.HOW_GOOD)
