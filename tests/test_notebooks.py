"""What notebooks show of scorecards and estimators."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
import sklearn

from lessnaive import NaiveBayes, models
from lessnaive.datasets import load_penguins
from term_cases import example_card

HOSTILE = '<script>alert("x")</script>'


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.seen.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def parsed(html: str) -> _Tags:
    out = _Tags()
    out.feed(html)
    assert not out.open
    return out


def test_every_kind_of_term_is_shown():
    card = example_card()
    page = parsed(card._repr_html_())
    for term in card.terms:
        assert term.name in page.text
    assert page.seen.count("details") == len(card.terms)
    assert set(page.seen) <= {"div", "b", "details", "summary", "span", "table", "tr", "th", "td"}


@pytest.mark.parametrize("name", models.__all__)
def test_every_model_shows_its_scorecard(name):
    X, y = load_penguins("pandas")
    model = getattr(models, name)()
    diagram = model._repr_mimebundle_()["text/html"]
    assert "lessnaive-scorecard" not in diagram
    model.fit(X[["island", "bill_length_mm"]], y)
    shown = model._repr_mimebundle_()["text/html"]
    assert shown.count('<div class="lessnaive-scorecard"') == 1
    assert model._repr_html_().endswith(model.scorecard_._repr_html_())
    assert "bill_length_mm" in shown


def test_text_alone_where_that_is_wanted():
    model = NaiveBayes().fit([[1.0], [2.0]], [0, 1])
    with sklearn.config_context(display="text"):
        assert "text/html" not in model._repr_mimebundle_()


def test_names_are_text():
    X = [[f"{HOSTILE}{i % 3}", float(i)] for i in range(60)]
    y = [f"{HOSTILE}{i % 2}" for i in range(60)]
    html = NaiveBayes().fit(X, y).scorecard_._repr_html_()
    assert "<script" not in html
    assert "&lt;script&gt;" in html


def test_long_scorecards_are_cut_short():
    names = {f"column {j}": [f"value {(i * j) % 50}" for i in range(200)] for j in range(30)}
    import pandas as pd

    html = NaiveBayes().fit(pd.DataFrame(names), [i % 2 for i in range(200)])._repr_html_()
    assert "and 18 weaker terms" in html
    assert len(html) < 200_000
