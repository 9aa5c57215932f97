"""The page How we know, at how it works: the address of the former Method page."""

from advisor.ui.accuracy import page

page.shown(page.HOW_IT_WORKS)
