/// Data that is not atomic: each access must be ordered with every other that conflicts, and with the end.
#pragma once

#include "explorer.hpp"

#include <array>
#include <vector>

namespace kvindex::model {

template <typename T>
class var {
public:
    explicit var(T value = T()) : m_value(value), m_written(explorer::current().tick()) {
    }

    var(const var&) = delete;
    var& operator=(const var&) = delete;

    T read() const {
        explorer& e = explorer::current();
        check(!m_freed, "use after free: read");
        check(e.now().covers(m_written), "data race: read beside a write");
        m_read_at[e.thread()] = e.tick().time;
        return m_value;
    }

    void write(T value) {
        check(!m_freed, "use after free: write");
        own("data race: write beside a write", "data race: write beside a read");
        m_value = value;
    }

    /// Nobody may touch it from here on, nor may anybody still be at it.
    void free() {
        check(!m_freed, "freed twice");
        own("data race: free beside a write", "data race: free beside a read");
        m_freed = true;
    }

private:
    static void check(bool good, const char* what) {
        if (!good) {
            explorer::current().fail(what);
        }
    }

    void own(const char* beside_write, const char* beside_read) {
        explorer& e = explorer::current();
        check(e.now().covers(m_written), beside_write);
        for (std::uint32_t t = 0; t < max_threads; t++) {
            check(e.now().covers({t, m_read_at[t]}), beside_read);
        }
        m_written = e.tick();
    }

    T m_value;
    stamp m_written;
    mutable std::array<std::uint32_t, max_threads> m_read_at{}; // last read of each thread
    bool m_freed = false;
};

/// What is true of the state as a whole, step by step, told by the one thread that changes it. The models use
/// it to say which answers a look-up may give; it orders nothing. Needs options::reduce off, because the
/// explorer does not see who touches it.
template <typename T>
class timeline {
public:
    explicit timeline(T first) : m_states(1, {first, explorer::current().tick()}) {
        if (explorer::current().limits().reduce) {
            explorer::current().fail("a timeline needs every order");
        }
    }

    /// The operation just done made `state` true.
    void change(T state) {
        explorer& e = explorer::current();
        m_states.push_back({state, e.now().last(e.thread())});
    }

    /// The begin of a look-up: the last state that the caller must know of. That is the last one at all when
    /// loads are never stale, else the last that happens before.
    std::size_t begin() {
        explorer& e = explorer::current();
        e.step({op_kind::rmw, this, true});
        std::size_t i = m_states.size() - 1;
        while (e.limits().stale_reads && i != 0 && !e.now().covers(m_states[i].made)) {
            i--;
        }
        return i;
    }

    /// Was `answer` true at some instant from `begun` until now?
    bool held(T answer, std::size_t begun) const {
        for (std::size_t i = begun; i < m_states.size(); i++) {
            if (m_states[i].value == answer) {
                return true;
            }
        }
        return false;
    }

private:
    struct entry {
        T value;
        stamp made;
    };

    std::vector<entry> m_states;
};

} // namespace kvindex::model
