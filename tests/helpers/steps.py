"""Steps of a person on the pages, each in one form: what is typed, pressed and opened, and what is
read afterwards, when the page is at rest.
"""

import re

from driving import settle

LONG = 120_000
"""Time for a page that tries every GPU, on a machine that is busy with other tests [ms]."""


def say_machine(tab, text):
    _type(tab.get_by_role("textbox", name="Your machine, in your own words"), text)


def choose_model(tab, text):
    _type(tab.get_by_role("combobox", name="Model", exact=True), text)
    tab.wait_for_timeout(300)
    settle(tab)


def choose_use(tab, name):
    settle(tab)  # what is drawn late closes an open menu
    tab.locator(".st-key-use button").first.click()
    tab.get_by_text(name, exact=True).click()
    settle(tab)
    tab.keyboard.press("Escape")
    settle(tab)


def set_assumed(tab, chip, label, text):
    """A value in place of an assumed one, by its chip."""
    tab.get_by_role("button", name=f"assumed: {chip}").click()
    _type(tab.get_by_role("textbox", name=label), text)
    settle(tab)
    tab.get_by_role("button", name="Close").click()
    settle(tab)


def _type(field, text):
    field.fill(text)
    field.press("Enter")


def open_page(tab, name):
    tab.get_by_role("link", name=name, exact=True).click()
    tab.locator("h1").first.wait_for(timeout=LONG)
    settle(tab)


def open_tab(tab, name):
    """A tab of a page at rest: one that a run is drawing anew takes no click."""
    settle(tab)
    tab.get_by_role("tab", name=name, exact=True).click()
    tab.get_by_role("tab", name=name, exact=True, selected=True).wait_for()
    settle(tab)


def press(tab, name, kind="button"):
    tab.get_by_role(kind, name=name, exact=True).first.click()
    settle(tab)


def copy(tab, part):
    """Text of the box that has a part, by its button and the clipboard."""
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    box = tab.locator(".oa-code", has_text=part).first
    box.get_by_role("button", name="Copy").click()
    box.get_by_role("button", name="Copied").wait_for()
    return tab.evaluate("navigator.clipboard.readText()")


def save(tab, name):
    """The answer as a report, opened."""
    tab.locator(".st-key-save_report button").first.click()
    tab.get_by_role("textbox", name="Name", exact=True).fill(name)
    tab.locator(".st-key-save_now button").click()
    tab.get_by_text(f"Saved under Reports as {name}.").wait_for()
    tab.get_by_role("link", name="Open the report").click()
    tab.get_by_role("tab", name="Notes and measurements").wait_for()


def tick(tab, name):
    """A report of the list, to compare it."""
    row = tab.locator("[class*=st-key-report_]", has_text=name).last
    row.locator("label[data-baseweb=checkbox], .stCheckbox label").first.click()
    settle(tab)


def chip(tab, words):
    tab.locator(".oa-chip", has_text=words).first.wait_for()


def verdict(tab):
    return tab.locator("#verdict").inner_text()


def judged(tab, words, unlike=""):
    """Wait for a verdict with words, that is not a former one."""
    tab.locator("#verdict", has_text=re.compile(words)).wait_for(timeout=LONG)
    changed = "words => document.querySelector('#verdict').innerText != words"
    tab.wait_for_function(changed, arg=unlike)
    settle(tab)
    return verdict(tab)


def everything(tab):
    """All that is read on a page, and the title of its tab."""
    settle(tab)
    return tab.title(), tab.inner_text("[data-testid=stMain]")
