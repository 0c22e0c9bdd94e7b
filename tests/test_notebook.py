"""What a notebook shows: tables in which names are text, and figures that plotly accepts."""

import pytest

import dynid
from dynid.report.text import shown
from helpers_report import HOSTILE, Reader, estimate, hostile_robot


@pytest.fixture(params=["robot", "base", "log", "estimate"])
def thing(request):
    found, (training, _) = estimate()
    return {
        "robot": hostile_robot(),
        "base": dynid.base_parameters(hostile_robot(), friction=True),
        "log": training,
        "estimate": found,
    }[request.param]


def test_tables_hold_text_and_nothing_else(thing):
    reader = Reader.of(thing._repr_html_())
    assert {tag for tag, _ in reader.elements} <= {
        "table",
        "caption",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "h4",
        "p",
    }
    assert all(attributes == {} for _, attributes in reader.elements)


def test_joints_have_their_names():
    rows = Reader.of(hostile_robot()._repr_html_()).tables[0][1][1:]
    assert [row[0] for row in rows] == [shown(name) for name in HOSTILE]


def test_an_estimate_shows_its_values():
    found, _ = estimate()
    tables = Reader.of(found._repr_html_()).tables
    assert [row[0] for row in tables[-1][1][1:]] == list(found.names)
    assert len(tables) == 3  # training, validation, values


def test_figures_are_plotly_s():
    found, (training, unseen) = estimate()
    assert set(found.plot()) == {"intervals", "correlations", "essentials"}
    drawn = found.plot(unseen, training)
    assert {"efforts-0", "efforts-1", "residuals-0", "distributions-1"} <= set(drawn)
    for figure in drawn.values():
        assert figure.to_plotly_json()  # plotly has accepted every property by now
        assert len(figure.data) > 0
        assert "@" not in figure.layout.paper_bgcolor
