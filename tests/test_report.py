"""The report as a file: complete, self-contained, true to the JSON, and deaf to what names would like."""

import base64
import hashlib
import json
import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import fdtri
from statsmodels.tsa.stattools import acf

from dynid import ArgumentError, load_robot
from dynid.estimate_file import record
from dynid.log.write import write_log
from dynid.report.arm import arm
from dynid.report.colours import DARK, LIGHT
from dynid.report.data import ReportData
from dynid.report.efforts import autocorrelation, longest_piece
from dynid.report.encode import quantised, script_json
from dynid.report.essential import essential_of, increases
from dynid.report.figure import coloured
from dynid.report.page import POINTS, figures, render, write_report
from dynid.report.text import in_figure, number, percent, shown, with_uncertainty
from dynid.report.thin import line, thinned
from helpers_report import HOSTILE, NAME, TRAINING, UNSEEN, Reader, data, estimate, page, recorded

LARGEST = 6_000_000  # bytes of a page
SECTIONS = (
    *("verdict", "efforts", "residuals", "parameters", "correlation", "excitation"),
    *("tracking", "estimators", "essential", "bodies", "health", "operations", "provenance"),
)
VOID = {"meta", "br", "img", "input", "link", "hr"}


@pytest.fixture(scope="module")
def reader():
    return Reader.of(page())


# --- one file that needs nothing else -----------------------------------------------------------


def test_every_part_is_there_and_the_page_is_small(reader):
    assert [a["id"] for tag, a in reader.elements if tag == "section"] == list(SECTIONS)
    assert len(page().encode()) < LARGEST


def test_long_logs_of_many_joints_stay_small():
    """Curves are thinned to a budget that does not grow with the logs."""
    one = data().compared[0]
    long = 200_000
    times = np.linspace(0.0, 2000.0, long)
    noise = np.random.default_rng(0).normal(size=(long, 4))
    comparison = replace(one.comparison, time=times, measured=noise, predicted=0.5 * noise)
    drawn = figures(replace(data(), compared=(replace(one, comparison=comparison),) * 10))
    curves = [trace for key, figure in drawn.items() if key.startswith("eff") for trace in figure.data]
    assert len(curves) == 8 * 4 * 2  # of ten logs, eight are drawn
    assert sum(len(trace["x"]) for trace in curves) <= 2 * POINTS


def test_nothing_is_loaded_from_elsewhere(reader):
    loading = [a for _, a in reader.elements if {"src", "srcset", "data", "poster", "background"} & a.keys()]
    links = [a["href"] for _, a in reader.elements if "href" in a]
    assert loading == []
    assert links
    assert all(link.startswith("#") for link in links)
    assert "link" not in {tag for tag, _ in reader.elements}
    assert "@import" not in page().partition("<script")[0]


def test_the_policy_knows_the_page_s_own_scripts_and_no_others(reader):
    """Hashes computed here, from what a parser sees between the tags."""
    policy = next(a["content"] for tag, a in reader.elements if a.get("http-equiv"))
    directives = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    types = [a.get("type") for tag, a in reader.elements if tag == "script"]
    running = [text for text, kind in zip(reader.scripts, types, strict=True) if kind is None]
    hashes = {base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in running}
    assert directives["default-src"] == "'none'"
    assert set(directives["script-src"].split()) == {f"'sha256-{digest}'" for digest in hashes}
    assert len(running) == 4


def test_every_element_is_closed():
    depth = {}
    text = re.sub(r"<(script|style)[^>]*>.*?</\1>", "", page(), flags=re.DOTALL)
    for closing, tag in re.findall(r"<(/?)([a-z][a-z0-9]*)[^>]*>", text):
        if tag not in VOID:
            depth[tag] = depth.get(tag, 0) + (-1 if closing else 1)
    assert {tag: count for tag, count in depth.items() if count} == {}


# --- names are data -----------------------------------------------------------------------------


def test_names_make_no_elements(reader):
    """No element or handler is on the page that a page with harmless names does not have."""
    tags = {tag for tag, _ in reader.elements}
    assert tags & {"img", "iframe", "object", "embed", "u", "i", "b"} == set()
    assert [tag for tag, _ in reader.elements].count("script") == 5
    handlers = {key for _, attributes in reader.elements for key in attributes if key.startswith("on")}
    assert handlers == set()


def test_names_are_shown_as_they_are(reader):
    text = "".join(reader.text)
    for name in (*HOSTILE, NAME, TRAINING, UNSEEN, "dynid identify '<u>robot</u>'"):
        assert shown(name) in text
    assert "49" not in re.findall(r"\{\{.*?\}\}", text)  # templates in names are not evaluated
    assert "\x1b" not in page()
    assert "\u202e" not in page()


def test_texts_of_figures_have_no_tags_of_their_own(reader):
    """plotly reads a few tags in every text: those that names bring along are entities."""
    content = json.loads(reader.scripts[0])
    allowed = re.compile(r"</?b>|<br>|<extra></extra>")
    for figure in content["figures"].values():
        for text in strings(figure):
            assert "<" not in allowed.sub("", text), text
            assert "%{x}<" not in text


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for entry in value.values():
            yield from strings(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from strings(entry)


@given(st.text(max_size=80))
def test_no_name_is_markup(name):
    assert "<" not in in_figure(name)
    assert "%{" not in in_figure(name)
    assert shown(name).isprintable() or not name
    assert "<" not in script_json({name: name})
    assert json.loads(script_json([name])) == [name]


# --- the figures of the JSON --------------------------------------------------------------------


def test_tables_are_those_of_the_json(reader):
    found, _ = estimate()
    json_ = record(found)
    rows = reader.table(id="values")
    assert [row[0] for row in rows] == [entry["name"] for entry in json_["parameters"]]
    for row, entry in zip(rows, json_["parameters"], strict=True):
        assert row[1:4] == [entry["value"], entry["std"], entry["relative_std_percent"]]
    scored = {"validation": json_["validation"][UNSEEN], "training": json_["train"]}
    for role, scores in scored.items():
        table = reader.table(data_role=role)
        assert [row[0] for row in table] == [shown(joint) for joint in scores]
        for row, score in zip(table, scores.values(), strict=True):
            keys = ("rmse", "percent", "percent_raw", "percent_moving", "r2")
            np.testing.assert_allclose(row[1:], [score[key] for key in keys], rtol=1e-12)


def test_tracking_errors_are_those_of_the_joints_way(reader):
    """An error that grows to 10 s times 0.01 and 0.2, of the way that the log goes."""
    log = estimate()[1][1]
    way, seconds = np.ptp(log.position, axis=0), log.time[-1] - log.time[0]
    for row, joint_way in zip(reader.table(id="tracks"), way, strict=True):
        np.testing.assert_allclose(row[1:], 100.0 * np.array([0.01, 0.2]) * seconds / joint_way, rtol=1e-9)
    methods = reader.table(id="methods")
    assert [row[0] for row in methods] == ["irls (this report)", "<b>ols</b> (this report)"]
    assert methods[0][2:] == [score.percent for score in estimate()[0].validation[UNSEEN].values()]


def test_links_are_those_of_the_estimate(reader):
    found, _ = estimate()
    masses = [row[1] for row in reader.table(id="links")]
    assert masses == found.parameters.reshape(-1, 10)[:, 9].tolist()


def test_the_robot_s_own_file_by_hand_arithmetic(reader):
    """Of MX2 + MX3 + Fo3 / (4 g) in robots/scara.toml: 5 kg at 0.12 m, nothing, 0.5 N."""
    rows = {row[0]: row for row in reader.table(id="values")}
    assert float(rows["MXR2"][6]) == pytest.approx(5.0 * 0.12 + 0.5 / (4.0 * 9.81), rel=1e-3)


def test_a_summary_on_a_terminal_has_no_control_characters():
    assert all(line.isprintable() for line in estimate()[0].summary().split("\n") if line)


# --- what figures are made of -------------------------------------------------------------------


@given(
    arrays(np.float64, st.integers(25, 300), elements=st.floats(-1e6, 1e6) | st.just(np.nan)),
)
def test_packed_curves_differ_by_half_a_step(values):
    packed = quantised(values)
    whole = np.frombuffer(base64.b64decode(packed["packed"]), "<i2").astype(np.float64)
    back = np.where(whole == -32768, np.nan, packed["low"] + packed["step"] * (whole + 32767))
    known = np.isfinite(values)
    assert (np.isfinite(back) == known).all()
    if known.any():
        size = np.ptp(values[known])
        assert np.abs(back - values)[known].max() <= 0.5001 * size / 65534 + 1e-9 * abs(packed["low"])


def test_thinned_curves_keep_their_extremes():
    rng = np.random.default_rng(0)
    curves = [rng.normal(size=50_001), rng.normal(size=50_001)]
    kept = thinned(curves, 1000)
    assert len(kept) <= 2000
    assert kept[0] == 0
    assert kept[-1] == 50_000
    for curve in curves:
        assert curve[kept].max() == curve.max()
        assert curve[kept].min() == curve.min()


def test_a_line_breaks_where_the_log_has_a_gap():
    time = np.concatenate([np.arange(0.0, 1.0, 0.01), np.arange(3.0, 4.0, 0.01)])
    at, (curve,) = line(time, [np.ones(len(time))], 10_000)
    assert np.flatnonzero(np.isnan(at)).tolist() == [100]
    assert np.isnan(curve[100])
    assert len(at) == len(time) + 1


def test_autocorrelation_is_that_of_statsmodels():
    rng = np.random.default_rng(0)
    noise = sm.tsa.arma_generate_sample([1.0, -0.8], [1.0], 500, distrvs=rng.normal)
    np.testing.assert_allclose(autocorrelation(noise, 50), acf(noise, nlags=49), atol=1e-12)


def test_the_longest_piece_is_the_log_without_its_gap():
    one = data().compared[0]
    effort, left, rate = longest_piece(one, 0)
    assert rate == pytest.approx(100.0, rel=1e-6)
    raw = one.comparison.raw[:, 0]
    assert len(effort) >= len(raw) - 1
    assert np.std(left) < 0.1 * np.std(effort)


def test_essential_parameters_are_those_an_f_test_misses():
    """Each parameter left out in turn, by refits with NumPy of the same equations."""
    found, _ = estimate()
    rows, r = found.information[:, :-1], found.information[:, -1]

    def cost(kept):
        left = r - rows[:, kept] @ np.linalg.lstsq(rows[:, kept], r, rcond=None)[0]
        return found.residual + float(left @ left)

    essential = essential_of(found)
    kept = list(range(len(found.names)))
    smallest = cost(kept)
    limit = fdtri(1.0, found.freedom, 0.95) * smallest / found.freedom
    dropped = []
    while len(kept) > 1:
        costs = [cost([k for k in kept if k != j]) for j in kept]
        if min(costs) - cost(kept) > limit:
            break
        dropped.append(kept.pop(int(np.argmin(costs))))
    assert essential.dropped == tuple(found.names[k] for k in dropped)
    assert essential.kept == tuple(found.names[k] for k in kept)
    total = float(r @ r) + found.residual
    assert essential.errors[0] == pytest.approx(100.0 * np.sqrt(smallest / total), rel=1e-9)
    assert len(essential.errors) == len(found.names)


def test_increases_are_costs_of_refits():
    rng = np.random.default_rng(0)
    A, b = rng.normal(size=(30, 5)), rng.normal(size=30)
    R = np.linalg.qr(np.column_stack([A, b]), mode="r")
    full = np.linalg.lstsq(A, b, rcond=None)[1][0]
    without = [np.linalg.lstsq(np.delete(A, k, axis=1), b, rcond=None)[1][0] for k in range(5)]
    np.testing.assert_allclose(increases(R), np.array(without) - full, rtol=1e-10)


def test_ellipsoids_have_the_inertia_of_their_links():
    """A uniform ellipsoid's second moments are its squared semi-axes times its mass over five."""
    found, _ = estimate()
    for body, ten in zip(arm(found.robot, data().bodies), found.parameters.reshape(-1, 10), strict=True):
        half = np.linalg.eigvalsh(body.spread)
        moments = ten[9] / 5.0 * np.array([half[1] + half[2], half[0] + half[2], half[0] + half[1]])
        np.testing.assert_allclose(np.sort(moments), np.sort(body.principal), rtol=1e-6)


def test_figures_know_only_colours_that_there_are():
    for figure in figures(data()).values():
        for colours in (LIGHT, DARK):
            left = [text for text in strings(coloured(list(figure.data), colours)) if text.startswith("@")]
            assert left == []


# --- texts --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-1.5, "−1.5"),
        (1.234567e-7, "1.235·10⁻⁷"),
        (np.nan, "–"),
        (-np.inf, "−∞"),
        (12345.6, "1.235·10⁴"),
    ],
)
def test_numbers(value, text):
    assert number(value) == text


@pytest.mark.parametrize(
    ("value", "std", "texts"),
    [
        (1.23456, 0.0123, ("1.235", "0.012")),
        (-0.00001, 0.01, ("0.000", "0.010")),
        (-4.0, np.inf, ("−4", "∞")),
        (12345.0, 300.0, ("12345", "3·10²")),
    ],
)
def test_values_with_their_uncertainty(value, std, texts):
    assert with_uncertainty(value, std) == texts


def test_percentages_beyond_a_thousand():
    assert [percent(x) for x in (0.123, 12.3, 123.4, 1e6, np.inf)] == ["0.12", "12", "123", "> 1000", "∞"]


# --- files --------------------------------------------------------------------------------------


def test_a_report_replaces_nothing_without_force(tmp_path):
    path = tmp_path / "report.html"
    bare = ReportData(title="t", robot=estimate()[0].robot)
    write_report(path, bare)
    with pytest.raises(ArgumentError, match="--force"):
        write_report(path, bare)
    write_report(path, bare, force=True)
    assert path.read_text("utf-8") == render(bare)


def test_a_robot_alone_makes_a_page():
    reader = Reader.of(render(ReportData(title="t", robot=estimate()[0].robot)))
    assert "section" not in {tag for tag, _ in reader.elements}


LIMITED = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
from dynid.cli import main
sys.exit(main(sys.argv[1:]))
"""


def test_a_disk_without_room_leaves_no_half_report(tmp_path):
    """Files of more than a megabyte fail while they are written: the estimate fits, the report does not."""
    robot = load_robot("scara")
    write_log(recorded(robot, "log", 1, seconds=5.0), tmp_path / "log.csv")
    command = [sys.executable, "-c", LIMITED, "identify", "scara", "log.csv", "-o", "out", "--quiet"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 2
    assert run.stderr == "dynid identify: 'out/report.html' cannot be written: File too large\n"
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["estimate.json"]
