/// A writer that changes an index in every way it can, and readers that know between which depths each answer
/// must lie. See bracket_test.cpp.
#pragma once

#include "base/mix.hpp"
#include "base/types.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <random>
#include <string>
#include <thread>

namespace kvindex::tests {

struct bracket_outcome {
    std::uint64_t queries = 0;
    std::uint64_t changes = 0;
    std::uint64_t outside = 0; ///< answers below low or above high
    std::string first;         ///< one of them in words

    bracket_outcome& operator+=(const bracket_outcome& o) {
        queries += o.queries;
        changes += o.changes;
        outside += o.outside;
        first = first.empty() ? o.first : first;
        return *this;
    }
};

template <typename Subject>
class bracket_history {
public:
    /// `tiers`: blocks lie in a second tier too, and readers ask for all.
    bracket_history(Subject& subject, std::uint64_t seed, bool tiers)
        : m_subject(subject), m_random(seed), m_seed(seed), m_tiers(tiers) {
        make_prompts();
        for (std::uint32_t w = 0; w < steady + restless; w++) {
            m_slots.push_back(*m_subject.open(w % 8 == 7 ? 1 : 0));
        }
        for (std::uint32_t p = 0; p < prompts; p++) {
            for (std::uint32_t w = 0; w < steady; w++) {
                start(p, w);
            }
        }
    }

    /// Until the readers have asked so many times together, and the writer has got on.
    bracket_outcome run(std::uint64_t queries, std::uint32_t readers) {
        bracket_outcome all;
        std::vector<bracket_outcome> found(readers);
        std::vector<std::thread> threads;
        std::atomic<std::uint32_t> busy{readers};
        for (std::uint32_t r = 0; r < readers; r++) {
            threads.emplace_back([&, r] {
                read(queries / readers, m_seed * 1000 + r, found[r]);
                busy.fetch_sub(1, std::memory_order_relaxed);
            });
        }
        std::exception_ptr failed; // the readers end by themselves
        while (busy.load(std::memory_order_relaxed) != 0 && failed == nullptr) {
            try {
                change();
            } catch (...) {
                failed = std::current_exception();
            }
            m_changes.fetch_add(1, std::memory_order_relaxed);
        }
        if (failed != nullptr) {
            m_changes.store(least_changes, std::memory_order_relaxed);
        }
        for (std::uint32_t r = 0; r < readers; r++) {
            threads[r].join();
            all += found[r];
        }
        if (failed != nullptr) {
            std::rethrow_exception(failed);
        }
        all.changes = m_changes.load(std::memory_order_relaxed);
        return all;
    }

private:
    static constexpr std::uint32_t steady = 40;  ///< slots whose depths are known
    static constexpr std::uint32_t restless = 8; ///< slots that come and go
    static constexpr std::uint32_t prompts = 24;
    static constexpr std::uint32_t long_prompts = 4; ///< the last ones: their content is moved often
    static constexpr std::uint32_t chains = 24;      ///< that readers ask for though they come and go
    static constexpr std::uint32_t shared = 60;      ///< at most so many are those of prompt 0
    static constexpr std::uint32_t stride = 64;
    static constexpr std::uint64_t least_changes = 3000;

    struct cursor {
        std::uint32_t low = 0;
        std::uint32_t high = 0; ///< 0: this slot does not care for the prompt
        std::uint32_t now = 0;
    };

    /// A chain that hangs under some block, for a while.
    struct garbage {
        slot_id slot{};
        std::uint32_t owner = 0;
        engine_hash end = 0;
        std::vector<engine_hash> names;
    };

    /// Hangs under a prompt's shared part; only its owner ever holds it.
    struct side_chain {
        std::uint32_t prompt = 0;
        std::uint32_t at = 0; ///< blocks of the prompt before it
        std::uint32_t owner = 0;
        std::uint32_t now = 0;
        std::vector<local_hash> locals; ///< the prompt's first, too
        std::vector<engine_hash> names;
    };

    static constexpr std::uint32_t blocks_of(std::uint32_t p) {
        return p < prompts - long_prompts ? 160 : 1500;
    }

    std::uint32_t below(std::uint32_t n) {
        return static_cast<std::uint32_t>(m_random() % n);
    }

    static std::vector<engine_hash> named(engine_hash parent, std::span<const local_hash> locals) {
        std::vector<engine_hash> out;
        for (const local_hash l : locals) {
            parent = mix(parent + 0x1234567) ^ mix(l);
            out.push_back(parent);
        }
        return out;
    }

    void make_prompts() {
        for (std::uint32_t p = 0; p < prompts; p++) {
            const std::uint32_t common = p == 0 ? 0 : below(shared);
            m_locals[p].assign(m_locals[0].begin(), m_locals[0].begin() + common);
            while (m_locals[p].size() < blocks_of(p)) {
                m_locals[p].push_back(m_random() | 1);
            }
            m_names[p] = named(0, m_locals[p]);
        }
        for (side_chain& c : m_chains) {
            c.prompt = below(prompts);
            c.at = 1 + below(shared);
            c.locals.assign(m_locals[c.prompt].begin(), m_locals[c.prompt].begin() + c.at);
            for (std::uint32_t left = 1 + below(below(3) == 0 ? 1000 : 40); left != 0; left--) {
                c.locals.push_back(m_random() | 1);
            }
            c.names = named(0, c.locals);
            do {
                c.owner = below(steady);
            } while (!cares(c.prompt, c.owner));
        }
    }

    /// Prompts of everybody, of a handful, of one or two: tables, words, and ends that come and go.
    static bool cares(std::uint32_t p, std::uint32_t w) {
        return p < 8 || (p < 16 ? (w + p) % 9 == 0 : (w + p) % 23 == 0);
    }

    void start(std::uint32_t p, std::uint32_t w) {
        if (!cares(p, w)) {
            return;
        }
        for (std::uint32_t t = 0; t < (m_tiers ? 2u : 1u); t++) {
            cursor& c = m_cursors[t][p][w];
            c.low = shared + below(40);
            c.high = c.low + (below(3) == 0 ? 0 : below(blocks_of(p) - c.low));
            c.now = c.low;
            m_subject.apply(stored(m_slots[w], p, 0, c.now, tier{static_cast<std::uint8_t>(t)}));
        }
    }

    stored_event stored(slot_id slot, std::uint32_t p, std::uint32_t from, std::uint32_t to, tier where) const {
        return {slot,
                where,
                from != 0,
                from != 0 ? m_names[p][from - 1] : 0,
                std::span(m_names[p]).subspan(from, to - from),
                std::span(m_locals[p]).subspan(from, to - from)};
    }

    void change() {
        const std::uint32_t kind = below(100);
        if (kind < 25) {
            move_cursor(below(prompts), below(steady));
        } else if (kind < 45) { // one of the few holders of a long one
            const std::uint32_t p = prompts - 1 - below(long_prompts);
            move_cursor(p, (46 - p) % 23 + (below(2) == 0 && (46 - p) % 23 + 23 < steady ? 23 : 0));
        } else if (kind < 70) {
            move_chain(m_chains[below(chains)]);
        } else if (kind < 80) {
            hang_garbage();
        } else if (kind < 85) {
            grow_garbage();
        } else if (kind < 96 && m_garbage.size() > m_most_garbage / 2) {
            drop_garbage();
        } else {
            stir(steady + below(restless));
        }
        while (m_garbage.size() > m_most_garbage) {
            drop_garbage();
        }
        if (below(2000) == 0) { // another wave: the tables grow, numbers become free together
            m_most_garbage = 1 + below(below(4) == 0 ? 1000 : 100);
        }
    }

    void move_cursor(std::uint32_t p, std::uint32_t w) {
        const std::uint32_t t = m_tiers ? below(2) : 0;
        cursor& c = m_cursors[t][p][w];
        if (c.high == 0) {
            return;
        }
        const tier where{static_cast<std::uint8_t>(t)};
        const std::uint32_t to = below(3) == 0 ? c.low : c.low + below(c.high - c.low + 1);
        if (to > c.now) {
            m_subject.apply(stored(m_slots[w], p, c.now, to, where));
        } else if (to < c.now) {
            std::vector<engine_hash> gone(m_names[p].begin() + to, m_names[p].begin() + c.now);
            if (below(4) != 0) { // else from the front: holes behind it
                std::reverse(gone.begin(), gone.end());
            }
            m_subject.apply(removed_event{m_slots[w], where, gone});
        }
        c.now = to;
    }

    void move_chain(side_chain& c) {
        const slot_id slot = m_slots[c.owner];
        const auto all = static_cast<std::uint32_t>(c.locals.size()) - c.at;
        const std::uint32_t to = below(3) == 0 ? below(all + 1) : c.now == 0 ? all : 0;
        const auto begin = c.names.begin() + c.at;
        if (to > c.now) {
            m_subject.apply(stored_event{slot, tier::gpu, true, c.names[c.at + c.now - 1],
                                         std::span(c.names).subspan(c.at + c.now, to - c.now),
                                         std::span(c.locals).subspan(c.at + c.now, to - c.now)});
        } else if (to < c.now) {
            std::vector<engine_hash> gone(begin + to, begin + c.now);
            std::reverse(gone.begin(), gone.end());
            m_subject.apply(removed_event{slot, tier::gpu, gone});
        }
        c.now = to;
    }

    void hang_garbage() {
        garbage g;
        g.owner = below(steady);
        g.slot = m_slots[g.owner];
        const std::uint32_t p = below(prompts);
        const bool at_root = below(5) == 0 || m_cursors[0][p][g.owner].high == 0;
        g.end = at_root ? 0 : m_names[p][below(shared)];
        m_garbage.push_back(std::move(g));
        lengthen(m_garbage.back());
    }

    void grow_garbage() {
        if (!m_garbage.empty()) {
            lengthen(m_garbage[below(static_cast<std::uint32_t>(m_garbage.size()))]);
        }
    }

    void lengthen(garbage& g) {
        std::vector<local_hash> locals(1 + below(below(6) == 0 ? 1500 : 30));
        for (local_hash& l : locals) {
            l = mix(++m_fresh) | 1;
        }
        const std::vector<engine_hash> names = named(g.end, locals);
        m_subject.apply(stored_event{g.slot, tier::gpu, g.end != 0, g.end, names, locals});
        g.end = names.back();
        g.names.insert(g.names.end(), names.begin(), names.end());
    }

    void drop_garbage() {
        const std::uint32_t i = below(static_cast<std::uint32_t>(m_garbage.size()));
        garbage& g = m_garbage[i];
        std::vector<engine_hash> gone(g.names.rbegin(), g.names.rend());
        if (below(3) == 0 && gone.size() > 1) { // its end only
            gone.resize(1 + below(static_cast<std::uint32_t>(gone.size() - 1)));
            m_subject.apply(removed_event{g.slot, tier::gpu, gone});
            g.names.resize(g.names.size() - gone.size());
            g.end = g.names.back();
            return;
        }
        m_subject.apply(removed_event{g.slot, tier::gpu, gone});
        m_garbage[i] = std::move(m_garbage.back());
        m_garbage.pop_back();
    }

    void stir(std::uint32_t w) {
        const std::uint32_t p = below(prompts);
        switch (below(8)) {
        case 0:
            m_subject.close(m_slots[w]);
            m_slots[w] = *m_subject.open(below(2));
            break;
        case 1:
            m_subject.apply(cleared_event{m_slots[w], all_tiers});
            break;
        case 2:
            m_subject.apply(cleared_event{m_slots[w], mask_of(tier::gpu)});
            break;
        default:
            m_subject.apply(stored(m_slots[w], p, 0, 1 + below(blocks_of(p)),
                                   m_tiers && below(2) == 0 ? tier::disk : tier::gpu));
        }
    }

    void read(std::uint64_t queries, std::uint64_t seed, bracket_outcome& out) {
        std::mt19937_64 random(seed);
        std::array<std::uint32_t, stride * tier_count> rows;
        const std::uint32_t tiers = m_tiers ? tier_count : 1;
        for (; out.queries < queries || m_changes.load(std::memory_order_relaxed) < least_changes;
             out.queries++) {
            if (random() % 3 == 0) {
                read_chain(m_chains[random() % chains], rows, out);
                continue;
            }
            const auto p = static_cast<std::uint32_t>(random() % prompts);
            const std::uint32_t len = random() % 8 == 0
                                          ? static_cast<std::uint32_t>(1 + random() % blocks_of(p))
                                          : blocks_of(p) - static_cast<std::uint32_t>(random() % 40);
            m_subject.look(std::span(m_locals[p]).first(len), tiers, rows.data(), stride);
            for (std::uint32_t t = 0; t < tiers; t++) {
                for (std::uint32_t w = 0; w < steady + restless; w++) {
                    check(p, w, t, len, rows[t * stride + w], out);
                }
            }
        }
    }

    /// In GPU memory; nobody but the owner gets past the block that the chain hangs at.
    void read_chain(const side_chain& c, std::array<std::uint32_t, stride * tier_count>& rows,
                    bracket_outcome& out) {
        m_subject.look(c.locals, 1, rows.data(), stride);
        for (std::uint32_t w = 0; w < steady + restless; w++) {
            if (w != c.owner) {
                check(c.prompt, w, 0, c.at, rows[w], out);
            } else if (rows[w] < c.at || rows[w] > c.locals.size()) {
                out.outside++;
                out.first = "a chain's owner has " + std::to_string(rows[w]) + " blocks of it";
            }
        }
    }

    void check(std::uint32_t p, std::uint32_t w, std::uint32_t t, std::uint32_t len, std::uint32_t depth,
               bracket_outcome& out) const {
        std::uint32_t low = 0;
        std::uint32_t high = len;
        if (w < steady && m_cursors[0][p][w].high != 0) {
            low = m_cursors[0][p][w].low;
            high = m_cursors[0][p][w].high;
            if (t != 0) {
                low = std::max(low, m_cursors[1][p][w].low);
                high = std::max(high, m_cursors[1][p][w].high);
            }
        }
        if (depth < std::min(low, len) || depth > std::min(high, len)) {
            out.outside++;
            out.first = "seed " + std::to_string(m_seed) + ": prompt " + std::to_string(p) + " of " +
                        std::to_string(len) + " blocks, slot " + std::to_string(w) + ", tier " +
                        std::to_string(t) + ": " + std::to_string(depth) + " is outside " +
                        std::to_string(low) + ".." + std::to_string(high);
        }
    }

    Subject& m_subject;
    std::mt19937_64 m_random;
    std::uint64_t m_seed;
    bool m_tiers;
    std::array<std::vector<local_hash>, prompts> m_locals;
    std::array<std::vector<engine_hash>, prompts> m_names;
    std::array<std::array<std::array<cursor, steady>, prompts>, 2> m_cursors{}; ///< readers: low and high only
    std::array<side_chain, chains> m_chains;                                    ///< readers: all but `now`
    std::vector<slot_id> m_slots;
    std::vector<garbage> m_garbage;
    std::uint32_t m_most_garbage = 50;
    std::uint64_t m_fresh = 1;
    std::atomic<std::uint64_t> m_changes{0};
};

} // namespace kvindex::tests
