#include "explorer.hpp"

#include <array>
#include <stdexcept>

namespace kvindex::model {
namespace {

constexpr std::size_t stack_bytes = 128 * 1024;

explorer* running = nullptr;

const char* name_of(std::memory_order order) {
    switch (order) {
    case std::memory_order_relaxed:
        return "relaxed";
    case std::memory_order_release:
        return "release";
    case std::memory_order_acq_rel:
        return "acq_rel";
    case std::memory_order_seq_cst:
        return "seq_cst";
    default:
        return "acquire";
    }
}

} // namespace

bool dependent(const operation& a, const operation& b) {
    if (a.kind == op_kind::yield || b.kind == op_kind::yield) {
        return true; // any store may end the wait
    }
    if (a.where != b.where) {
        return false;
    }
    // What one seq_cst load saw binds the next one.
    return a.kind != op_kind::load || b.kind != op_kind::load || (a.seq_cst && b.seq_cst);
}

explorer::explorer(const options& limits) : m_limits(limits) {
    if (running != nullptr) {
        throw std::logic_error("one exploration at a time");
    }
    if (m_limits.preemptions != options{}.preemptions) {
        m_limits.reduce = false; // the order that stands for its equals might be beyond the bound
    }
    running = this;
}

explorer::~explorer() {
    running = nullptr;
}

explorer& explorer::current() {
    return *running;
}

outcome explorer::run(const std::function<void()>& setup, std::vector<std::function<void()>> threads,
                      const std::function<void()>& finally) {
    if (threads.size() >= max_threads) {
        throw std::logic_error("too many threads for a clock");
    }
    m_bodies = std::move(threads);
    m_threads.resize(m_bodies.size() + 1);
    for (std::size_t i = 1; i < m_threads.size(); i++) {
        m_threads[i].stack = std::make_unique<char[]>(stack_bytes);
    }
    outcome result;
    do {
        if (result.executions + result.cut_short == m_limits.max_executions) {
            return result;
        }
        begin();
        setup();
        start_fibers();
        if (const std::uint32_t first = m_failure.empty() ? pick() : 0; first != 0) {
            switch_to(first);
        }
        if (m_cut_short) {
            result.cut_short++;
            continue;
        }
        result.executions++;
        if (m_failure.empty()) {
            for (const fiber& f : m_threads) {
                m_threads[0].now.join(f.now);
            }
            finally();
        }
    } while (m_failure.empty() && next_path());
    result.failure = m_failure;
    result.schedule = m_schedule;
    result.complete = m_failure.empty();
    return result;
}

void explorer::begin() {
    m_lines.clear();
    m_depth = 0;
    m_current = 0;
    m_asleep = 0;
    m_preemptions = 0;
    m_steps = 0;
    m_stores = 0;
    m_locations = 0;
    m_cut_short = false;
    m_threads[0].now = clock{};
}

/// Brings each thread to its first operation.
void explorer::start_fibers() {
    m_starting = true;
    for (std::uint32_t i = 1; i < m_threads.size() && m_failure.empty(); i++) {
        m_threads[i].now = m_threads[0].now;
        m_threads[i].seen_stores = m_stores;
        m_threads[i].done = false;
        prepare(m_threads[i]);
        switch_to(i);
    }
    m_starting = false;
}

/// A function of its own: the compiler takes getcontext() for one that may return twice.
void explorer::prepare(fiber& f) {
    getcontext(&f.context);
    f.context.uc_stack.ss_sp = f.stack.get();
    f.context.uc_stack.ss_size = stack_bytes;
    f.context.uc_link = nullptr;
    makecontext(&f.context, &explorer::enter, 0);
}

void explorer::enter() {
    explorer& self = *running;
    const std::uint32_t me = self.m_current;
    self.m_bodies[me - 1]();
    self.m_threads[me].done = true;
    self.switch_to(self.m_starting ? 0 : self.pick());
    // Never chosen again.
}

void explorer::switch_to(std::uint32_t thread) {
    const std::uint32_t me = m_current;
    m_current = thread;
    swapcontext(&m_threads[me].context, &m_threads[thread].context);
}

void explorer::step(operation op) {
    if (m_current != 0) {
        fiber& me = m_threads[m_current];
        me.pending = op;
        const std::uint32_t next = m_starting ? 0 : pick();
        if (next != m_current) {
            switch_to(next);
        }
        if (++m_steps > m_limits.max_steps) {
            fail("too many operations in one execution");
        }
        if (op.kind == op_kind::yield) {
            me.seen_stores = m_stores;
        }
    }
    tick();
}

bool explorer::enabled(std::uint32_t thread) const {
    const fiber& f = m_threads[thread];
    return !f.done && (f.pending.kind != op_kind::yield || m_stores > f.seen_stores);
}

/// The thread that goes next, or 0 when this execution is at its end.
std::uint32_t explorer::pick() {
    std::array<std::uint32_t, max_threads> able{};
    std::uint32_t count = 0;
    bool unfinished = false;
    bool blocked = true;
    const bool can_stay = m_current != 0 && enabled(m_current);
    if (can_stay && (m_asleep >> m_current & 1) == 0) {
        able[count++] = m_current;
    }
    for (std::uint32_t i = 1; i < m_threads.size(); i++) {
        unfinished = unfinished || !m_threads[i].done;
        if (!enabled(i)) {
            continue;
        }
        blocked = false;
        const bool within = !can_stay || m_preemptions < m_limits.preemptions;
        if (i != m_current && within && (m_asleep >> i & 1) == 0) {
            able[count++] = i;
        }
    }
    if (!unfinished) {
        return 0;
    }
    if (blocked) {
        fail("no thread can go on");
        return 0;
    }
    if (count == 0) {
        m_cut_short = true;
        return 0;
    }
    const std::uint32_t taken = choose(count);
    const std::uint32_t next = able[taken];
    if (can_stay && next != m_current) {
        m_preemptions++;
    }
    if (m_limits.reduce) {
        for (std::uint32_t i = 0; i < taken; i++) {
            m_asleep |= 1u << able[i];
        }
        for (std::uint32_t i = 1; i < m_threads.size(); i++) {
            if (dependent(m_threads[i].pending, m_threads[next].pending)) {
                m_asleep &= ~(1u << i);
            }
        }
    }
    return next;
}

std::uint32_t explorer::choose(std::uint32_t count) {
    if (count == 1) {
        return 0;
    }
    if (m_depth == m_path.size()) {
        m_path.push_back({0, count});
    }
    const choice& c = m_path[m_depth++];
    if (c.count != count) {
        fail("the model does not repeat itself: something in it is neither shared nor fixed");
        return 0;
    }
    return c.taken;
}

bool explorer::next_path() {
    while (!m_path.empty() && m_path.back().taken + 1 == m_path.back().count) {
        m_path.pop_back();
    }
    if (m_path.empty()) {
        return false;
    }
    m_path.back().taken++;
    return true;
}

void explorer::fail(const std::string& what) {
    if (m_failure.empty()) {
        m_failure = what;
        m_schedule = schedule();
    }
    if (m_current != 0) {
        switch_to(0);
    }
}

stamp explorer::tick() {
    return m_threads[m_current].now.tick(m_current);
}

void explorer::note(const char* what, std::uint32_t location, std::memory_order order, std::uint64_t value) {
    m_lines.push_back({what, m_current, location, order, value});
}

std::string explorer::schedule() const {
    std::string text;
    for (const line& l : m_lines) {
        if (l.thread != 0) {
            text += "thread " + std::to_string(l.thread) + ": " + l.what + " #" + std::to_string(l.location) +
                    ' ' + name_of(l.order) + ' ' + std::to_string(l.value) + '\n';
        }
    }
    return text + "thread " + std::to_string(m_current) + ": " + m_failure + '\n';
}

} // namespace kvindex::model
