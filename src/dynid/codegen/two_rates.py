"""An example in C++ of the two-rate use of the functions, in the shape of a ros2_control controller.

It needs no ROS: `on_activate`, `update` and `on_deactivate` are what such a controller has to offer. Run, it
also measures on a motion what coefficients that are not quite fresh cost, for several update rates: the
timing argument of [Izaguirre1992], section 3.
"""

from __future__ import annotations

from dynid.codegen.c_library import numbers, provenance
from dynid.codegen.listing import Listing

_TEXT = """\
#include "@P@.h"

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <initializer_list>
#include <thread>

namespace {

using Real = @REAL@;
constexpr int n = @N@;
@LATE@
struct Coefficients {
    Real M[n * n];
    Real c[n];
    Real g[n];
};

void compute(const Real* q, const Real* qd, Coefficients& to)
{
    @P@_inertia_gravity(q, @ARGUMENT@to.M, to.g);
    @P@_velocity_torque(q, qd, @ARGUMENT@to.c);
}

// One slot belongs to the background task, one to the control loop; the third, in the middle, changes hands
// by one atomic exchange. Neither side ever waits for the other.
template <typename T>
class Handover {
public:
    T& back() { return slots_[back_]; }
    const T& front() const { return slots_[front_]; }
    void publish() { back_ = middle_.exchange(back_ | fresh, std::memory_order_acq_rel) & ~fresh; }
    void fetch()
    {
        if (middle_.load(std::memory_order_relaxed) & fresh) {
            front_ = middle_.exchange(front_, std::memory_order_acq_rel) & ~fresh;
        }
    }

private:
    static constexpr int fresh = 4;
    T slots_[3] = {};
    int back_ = 0;
    int front_ = 1;
    std::atomic<int> middle_{2};
};

struct State {
    Real q[n];
    Real qd[n];
};

class TwoRateController {
public:
    void on_activate(const State& now)
    {
        compute(now.q, now.qd, coefficients_.back());
        coefficients_.publish();
        running_ = true;
        background_ = std::thread([this] { background(); });
    }

    // the control loop: n * n multiplications, no wait, no allocation
    void update(const State& now, const Real* qdd, Real* tau)
    {
        states_.back() = now;
        states_.publish();
        coefficients_.fetch();
        const Coefficients& latest = coefficients_.front();
        @P@_synchronous(latest.M, latest.c, latest.g, qdd, tau);
    }

    void on_deactivate()
    {
        running_ = false;
        background_.join();
    }

private:
    void background()
    {
        while (running_) {
            states_.fetch();
            const State& now = states_.front();
            compute(now.q, now.qd, coefficients_.back());
            coefficients_.publish();
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }

    Handover<State> states_;
    Handover<Coefficients> coefficients_;
    std::atomic<bool> running_{false};
    std::thread background_;
};

// every joint swings half a unit to either side, each at its own frequency of 0.3 Hz and more
void motion(double t, State& at, Real* qdd)
{
    for (int k = 0; k < n; ++k) {
        const double w = 6.283185307179586 * (0.3 + 0.07 * k);
        at.q[k] = static_cast<Real>(0.5 * std::sin(w * t));
        at.qd[k] = static_cast<Real>(0.5 * w * std::cos(w * t));
        qdd[k] = static_cast<Real>(-0.5 * w * w * std::sin(w * t));
    }
}

// RMS error of the efforts, as a share of their RMS, with coefficients computed every `period` seconds
double stale_error(double period)
{
    double error = 0.0;
    double size = 0.0;
    double next = 0.0;
    Coefficients latest{};
    for (int step = 0; step < 10000; ++step) {
        const double t = 1e-3 * step;
        State at{};
        Real qdd[n];
        Real tau[n];
        Real exact[n];
        motion(t, at, qdd);
        if (t >= next) {
            compute(at.q, at.qd, latest);
            next += period;
        }
        @P@_synchronous(latest.M, latest.c, latest.g, qdd, tau);
        @P@_inverse_dynamics(at.q, at.qd, qdd, @ARGUMENT@exact);
        for (int k = 0; k < n; ++k) {
            const double off = static_cast<double>(tau[k]) - static_cast<double>(exact[k]);
            error += off * off;
            size += static_cast<double>(exact[k]) * static_cast<double>(exact[k]);
        }
    }
    return size > 0.0 ? std::sqrt(error / size) : 0.0;
}

}  // namespace

int main()
{
    TwoRateController controller;
    State at{};
    Real qdd[n];
    Real tau[n] = {};
    motion(0.0, at, qdd);
    controller.on_activate(at);
    for (int step = 0; step < 100; ++step) {
        motion(1e-3 * step, at, qdd);
        controller.update(at, qdd, tau);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    controller.on_deactivate();
    std::printf("efforts after 0.1 s:");
    for (int k = 0; k < n; ++k) {
        std::printf(" %.4g", static_cast<double>(tau[k]));
    }
    std::printf("\\ncontrol loop at 1000 Hz; coefficients at   RMS error of efforts\\n");
    for (const int hz : {1000, 500, 200, 100, 50, 20}) {
        std::printf("%34d Hz   %.3f %%\\n", hz, 100.0 * stale_error(1.0 / hz));
    }
    return 0;
}
"""


def two_rates(listing: Listing) -> str:
    """The text of the example."""
    late = listing.generated.runtime
    constant = ""
    if late.names:
        constant = f"constexpr Real late[] = {{ {numbers(late.defaults, listing.real)} }};"
    words = {
        "@P@": listing.prefix,
        "@REAL@": listing.real,
        "@N@": f"{listing.prefix.upper()}_DOF",
        "@LATE@": constant,
        "@ARGUMENT@": "late, " if late.names else "",
    }
    text = _TEXT
    for word, meaning in words.items():
        text = text.replace(word, meaning)
    return "\n".join(provenance(listing)) + "\n" + text
