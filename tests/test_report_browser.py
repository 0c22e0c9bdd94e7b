"""The report in a browser: scripts without errors, figures drawn, keyboard, contrast, narrow screens, paper.

Skipped where there is no Chromium; `.ci/run` installs one where it can.
"""

import re
from itertools import pairwise

import pytest

from dynid.report.page import figures
from dynid.report.text import shown
from helpers_browser import Browser, chromium
from helpers_report import HOSTILE, UNSEEN, data, estimate, page

pytestmark = pytest.mark.skipif(chromium() is None, reason="no Chromium or Chrome on this machine")

ENOUGH, ENOUGH_LARGE = 4.5, 3.0  # WCAG 2.2, level AA
NARROW = 390  # px

# Of all texts on the page the least contrast with what lies behind, small and large ones apart.
CONTRAST = """(() => {
  const channels = (text) => (text.match(/[\\d.]+/g) || [0, 0, 0, 0]).map(Number);
  const light = (c) => { c /= 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
  const luminance = ([r, g, b]) => 0.2126 * light(r) + 0.7152 * light(g) + 0.0722 * light(b);
  const behind = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const colour = channels(getComputedStyle(e).backgroundColor);
      if (colour.length < 4 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const found = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    const box = element.getBoundingClientRect();
    if (!own || !box.width || !box.height || element.closest("script, style, noscript, .modebar")) continue;
    const style = getComputedStyle(element), inSvg = element instanceof SVGElement;
    const ink = luminance(channels(inSvg ? style.fill : style.color));
    const ground = luminance(behind(inSvg ? element.ownerSVGElement : element));
    const ratio = (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05);
    const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    found.push([ratio, large, element.tagName, element.textContent.trim().slice(0, 40)]);
  }
  return found;
})()"""


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    file = tmp_path_factory.mktemp("report") / "report.html"
    file.write_text(page(), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def browser():
    with Browser() as opened:
        yield opened


@pytest.fixture
def opened(browser, path):
    browser.resize(1280, 900)
    browser.media()
    browser.errors.clear()
    browser.requests.clear()
    browser.open(path)
    return browser


def test_it_runs_without_errors_and_asks_for_nothing(opened):
    assert opened.errors == []
    assert {request.partition(":")[0] for request in opened.requests} <= {"file", "data", "blob"}
    assert sum(request.startswith("file:") for request in opened.requests) == 1


def test_names_do_not_run(opened):
    assert opened.run("typeof hacked") == "undefined"
    assert opened.run("document.querySelectorAll('main img, main iframe, main u').length") == 0
    names = opened.run("[...document.querySelectorAll('.scores tbody th')].map((e) => e.textContent)")
    assert names[: len(HOSTILE)] == [shown(name) for name in HOSTILE]
    labels = opened.run("[...document.querySelectorAll('#arm text')].map((e) => e.textContent).join()")
    assert "<img src=x" in labels


def test_every_figure_is_drawn(opened):
    """As many curves, bars and maps as the figures have, of some size, and none in another figure's place."""
    drawn = opened.run(
        """Object.fromEntries([...document.querySelectorAll("[data-figure]")].map((e) => [e.dataset.figure,
        [...e.querySelectorAll(".trace, .heatmaplayer image")].length]))"""
    )
    wanted = {key: len(figure.data) for key, figure in figures(data()).items()}
    assert drawn == wanted
    widths = opened.run(
        "[...document.querySelectorAll('.main-svg')].map((e) => e.getBoundingClientRect().width)"
    )
    assert min(widths) > 300
    assert opened.run("document.getElementById('arm').dataset.drawn") == str(len(estimate()[0].robot.links))
    assert opened.run("document.querySelectorAll('#arm ellipse').length") == len(estimate()[0].robot.links)


def test_curves_are_those_of_the_log(opened):
    """What the page's script unpacks, beside the residual of the first joint."""
    one = data().compared[0]
    drawn = opened.run("document.getElementById('residuals-0').data[0].y.filter((y) => y !== null)")
    left = one.residual[:, 0]
    step = (left.max() - left.min()) / 65534
    assert max(drawn) == pytest.approx(left.max(), abs=step)
    assert min(drawn) == pytest.approx(left.min(), abs=step)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_texts_stand_out(opened, dark):
    opened.media(dark=dark)
    opened.wait(f"document.documentElement.dataset.theme === '{'dark' if dark else 'light'}'")
    opened.run("new Promise((done) => setTimeout(done, 400))")
    texts = opened.run(CONTRAST)
    assert len(texts) > 300
    assert {"text", "tspan", "TH", "DD", "P", "BUTTON"} & {tag for _, _, tag, _ in texts} >= {"text", "TH"}
    weak = [entry for entry in texts if entry[0] < (ENOUGH_LARGE if entry[1] else ENOUGH)]
    assert weak == []


def test_the_button_changes_the_colours_of_figures(opened):
    paper = "document.getElementById('efforts-0')._fullLayout.paper_bgcolor"
    before = opened.run(paper)
    opened.run("document.getElementById('theme').click()")
    opened.wait(f"{paper} !== '{before}'")
    assert opened.run("document.documentElement.dataset.theme") == "dark"
    assert opened.errors == []


def test_the_keyboard_reaches_everything_in_order(opened):
    """Tab by Tab: each control once, in the order of the page, visible, and with a ring around it."""
    wanted = opened.run(
        """[...document.querySelectorAll("a[href], button, summary, [tabindex='0']")]
        .filter((e) => e.tabIndex === 0 && !e.closest("[data-hidden]")).length"""
    )
    tops, rings = [], []
    for _ in range(wanted):
        opened.press("Tab")
        seen = opened.run(
            """(() => {
              const e = document.activeElement, box = e.getBoundingClientRect(), style = getComputedStyle(e);
              return [e.tagName, box.top + scrollY, box.width * box.height, parseFloat(style.outlineWidth)];
            })()"""
        )
        assert seen[0] != "BODY"
        tops.append(seen[1])
        rings.append(seen[3])
        assert seen[2] > 0
    assert min(rings) >= 2.0
    inside = tops[
        -wanted + opened.run("document.querySelectorAll('.skip, .bar button, .contents a').length") :
    ]
    assert all(b >= a for a, b in pairwise(inside))


def test_tabs_turn_by_arrows(opened):
    opened.run("document.getElementById('efforts-tab-0').focus()")
    assert opened.run("document.getElementById('efforts-panel-1').hasAttribute('data-hidden')")
    opened.press("ArrowRight")
    assert opened.run("document.activeElement.id") == "efforts-tab-1"
    assert opened.run("document.activeElement.getAttribute('aria-selected')") == "true"
    assert not opened.run("document.getElementById('efforts-panel-1').hasAttribute('data-hidden')")
    assert opened.run("document.getElementById('efforts-panel-0').hasAttribute('data-hidden')")


def test_figures_zoom_by_keys(opened):
    span = "document.getElementById('efforts-0')._fullLayout.xaxis.range.reduce((low, high) => high - low)"
    whole = opened.run(span)
    opened.run("document.getElementById('efforts-0').focus({ preventScroll: true })")
    opened.press("+", "+")
    opened.wait(f"{span} < {0.71 * whole} && {span} > {0.69 * whole}")
    opened.press("0", "0")
    opened.wait(f"Math.abs({span} - {whole}) < 1e-6")


def test_a_formula_opens_by_tab_and_closes_by_escape(opened):
    first = "document.querySelector('[data-formula]')"
    formulas = dict(zip(estimate()[0].names, estimate()[0].expressions, strict=True))
    opened.run(f"{first}.focus()")
    assert (
        opened.run("document.getElementById('tip').textContent")
        == formulas[opened.run(f"{first}.textContent")]
    )
    assert not opened.run("document.getElementById('tip').hidden")
    opened.press("Escape")
    assert opened.run("document.getElementById('tip').hidden")


def test_the_arm_turns_by_arrows(opened):
    where = "document.querySelector('#arm ellipse').getAttribute('cx')"
    before = opened.run(where)
    opened.run("document.getElementById('arm').focus({ preventScroll: true })")
    opened.press("ArrowRight")
    assert opened.run(where) != before


def test_controls_have_names(opened):
    """Every control has a text or a label, every figure says in words what it shows."""
    nameless = opened.run(
        """[...document.querySelectorAll("button, a[href], [role=tab], .plot, svg#arm, [role=region]")]
        .filter((e) => !(e.textContent.trim() || e.getAttribute("aria-label"))).length"""
    )
    assert nameless == 0
    headings = opened.run("[...document.querySelectorAll('h1, h2, h3')].map((e) => +e.tagName[1])")
    assert headings[0] == 1
    assert all(b <= a + 1 or b == 2 for a, b in pairwise(headings))


def test_a_narrow_screen_scrolls_one_way_only(opened):
    opened.resize(NARROW, 800)
    opened.wait(f"document.querySelector('#efforts-0 .main-svg').getBoundingClientRect().width < {NARROW}")
    assert opened.run("document.documentElement.scrollWidth") <= NARROW
    assert opened.errors == []


def test_paper_has_every_log_and_no_controls(opened, tmp_path):
    pdf = opened.paper()
    pages = len(re.findall(rb"/Type\s*/Page\b", pdf))
    assert 5 <= pages <= 40
    opened.media(printed=True)
    heights = opened.run(
        "[...document.querySelectorAll('.panel')].map((e) => e.getBoundingClientRect().height)"
    )
    assert min(heights) > 100
    assert opened.run("document.getElementById('theme').getBoundingClientRect().height") == 0
    assert UNSEEN in opened.run("document.body.textContent")
