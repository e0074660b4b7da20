/// Operations on an index and its oracle side by side; every answer is compared. What is done next comes from
/// a source of choices: a random generator (differential tests) or the bytes of a fuzzer.
#pragma once

#include "kvindex/prefix_index.hpp"
#include "oracle.hpp"

#include <memory>
#include <random>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace kvindex::tests {

/// Choices from a seed, without end.
class random_source {
public:
    explicit random_source(std::uint64_t seed) : m_random(seed) {
    }

    std::uint32_t below(std::uint32_t n) {
        return static_cast<std::uint32_t>(m_random() % n);
    }

    bool more() {
        return true;
    }

private:
    std::mt19937_64 m_random;
};

/// Choices from bytes; when they are used up, always the first.
class byte_source {
public:
    explicit byte_source(std::span<const std::uint8_t> bytes) : m_bytes(bytes) {
    }

    std::uint32_t below(std::uint32_t n) {
        std::uint32_t value = 0;
        for (std::uint32_t reach = n; reach > 1 && more(); reach = (reach + 255) / 256) {
            value = value << 8 | m_bytes[0];
            m_bytes = m_bytes.subspan(1);
        }
        return value % n;
    }

    bool more() {
        return !m_bytes.empty();
    }

private:
    std::span<const std::uint8_t> m_bytes;
};

/// Thrown when index and oracle disagree.
struct disagreement : std::runtime_error {
    using std::runtime_error::runtime_error;
};

template <typename Source>
class scenario {
public:
    /// The first choices say what kind of fleet this is.
    explicit scenario(Source& source)
        : m_source(source), m_wild(source.below(3) == 0), m_limit(source.below(2) == 0 ? 24 : 100'000),
          m_alphabet(2 + source.below(4)), m_longest(1 + source.below(source.below(4) == 0 ? 200 : 12)),
          m_options(small(m_limit, source.below(3))), m_index(std::make_unique<prefix_index>(m_options)),
          m_oracle(m_limit) {
    }

    void step() {
        switch (const std::uint32_t kind = m_source.below(64)) {
        case 0:
            open();
            break;
        case 1:
            if (m_source.below(4) == 0) {
                close();
            }
            break;
        case 2:
            if (m_source.below(4) == 0) {
                const slot_id slot = any_slot();
                change(cleared_event{slot, m_source.below(2) == 0 ? all_tiers : mask_of(any_tier())});
            }
            break;
        default:
            if (kind < 34) {
                store();
            } else if (kind < 58) {
                remove();
            } else {
                query();
            }
        }
        compare_sums();
    }

    void check_invariants() {
        const std::string broken = m_index->first_broken_invariant();
        if (!broken.empty()) {
            throw disagreement("invariant: " + broken);
        }
        compare_blocks();
    }

    /// Queries everything that any chain ever was.
    void compare_all() {
        const std::uint32_t all = m_oracle.all_chains().size();
        for (std::uint32_t chain = 1; chain <= all; chain += 1 + all / 512) {
            compare(m_oracle.all_chains().locals(chain));
        }
        compare_blocks();
    }

    /// Goes on with the index that f(index so far, options) answers: it holds the same, but nothing waits
    /// there, and its counts since the beginning begin anew.
    template <typename F>
    void go_on_with(F&& f) {
        m_index = f(*m_index, m_options);
        m_oracle.forget_waiting();
        compare_sums();
    }

private:
    static constexpr std::uint32_t slot_numbers = 6;

    /// Ghosts: none, few, or as many as come.
    static options small(std::uint64_t orphan_limit, std::uint32_t kind) {
        return {.orphan_limit = orphan_limit,
                .max_blocks = 1u << 18,
                .ghost_percent = kind == 2 ? 100u : 0u,
                .ghost_floor = kind * 20};
    }

    slot_id any_slot() {
        return slot_id{m_source.below(slot_numbers)};
    }

    tier any_tier() {
        const std::uint32_t n = m_source.below(8); // mostly the first two
        return tier{static_cast<std::uint8_t>(n < 5 ? 0 : n - 4)};
    }

    /// A name the slot holds, or, rarely or when it holds none, any.
    engine_hash any_name(slot_id slot) {
        const auto names = static_cast<std::uint32_t>(m_oracle.names(slot));
        if (names == 0 || m_source.below(16) == 0) {
            return m_source.below(64);
        }
        return m_oracle.name(slot, m_source.below(names));
    }

    /// Wild fleets name blocks at random, so names move and meet. Others name them by content, each slot in
    /// its own way, some by two names.
    engine_hash name_for(slot_id slot, std::uint32_t chain) {
        if (m_wild) {
            return m_source.below(48);
        }
        const std::uint64_t twin = m_source.below(32) == 0 ? 1 : 0;
        return (std::uint64_t{chain} << 4 | (number_of(slot) / 2) << 1 | twin) + 64;
    }

    void open() {
        if (m_oracle.stats().slots == slot_numbers) {
            return;
        }
        const auto expected = m_oracle.open_slot();
        const auto slot = m_index->open_slot();
        if (!slot || number_of(*slot) != number_of(*expected)) {
            throw disagreement("open_slot gave another number than the lowest free one");
        }
        m_handles[number_of(*slot)] = *slot;
    }

    void close() {
        const slot_id slot = any_slot();
        if (m_index->close_slot(m_handles[number_of(slot)]) != m_oracle.close_slot(slot)) {
            throw disagreement("close_slot");
        }
    }

    void store() {
        const slot_id slot = any_slot();
        stored_event e{.slot = slot, .where = any_tier()};
        const bool open = m_oracle.is_open(slot);
        e.has_parent = m_source.below(5) != 0;
        std::uint32_t chain = 0;
        bool told = true; // false: the parent is a block that the slot does not hold (yet)
        if (e.has_parent) {
            const std::uint32_t all = m_shadow.size();
            if (m_source.below(6) == 0 && all != 0) {
                chain = 1 + m_source.below(all);
                e.parent = name_for(slot, chain);
                told = false;
            } else {
                e.parent = any_name(slot);
                chain = open ? m_oracle.chain_of(slot, e.parent) : 0;
            }
        }
        // Chains as the engine sees them, also of what is told too late.
        std::uint32_t shadow = told ? shadow_of(chain) : chain;
        const std::uint32_t n = 1 + m_source.below(m_longest);
        std::vector<engine_hash> names;
        std::vector<local_hash> locals;
        for (std::uint32_t i = 0; i < n; i++) {
            locals.push_back(1000 + m_source.below(m_alphabet));
            shadow = m_shadow.longer(shadow, locals.back());
            names.push_back(name_for(slot, shadow));
        }
        e.names = names;
        e.locals = locals;
        change(e);
        compare(m_shadow.locals(shadow));
    }

    /// The oracle's chain in the numbers of the engines' chains.
    std::uint32_t shadow_of(std::uint32_t chain) {
        std::uint32_t shadow = 0;
        for (const local_hash local : m_oracle.all_chains().locals(chain)) {
            shadow = m_shadow.longer(shadow, local);
        }
        return shadow;
    }

    void remove() {
        const slot_id slot = any_slot();
        if (!m_oracle.is_open(slot)) {
            const std::vector<engine_hash> names{1};
            change(removed_event{slot, tier::gpu, names});
            return;
        }
        std::vector<engine_hash> names;
        const engine_hash first = any_name(slot);
        // The chain of one name from its end upwards, or downwards, or blocks at random.
        const std::uint32_t way = m_source.below(3);
        if (way < 2) {
            auto locals = m_oracle.all_chains().locals(m_oracle.chain_of(slot, first));
            std::uint32_t left = 1 + m_source.below(m_longest);
            while (!locals.empty() && left-- != 0) {
                std::uint32_t shadow = 0;
                for (const local_hash local : locals) {
                    shadow = m_shadow.longer(shadow, local);
                }
                names.push_back(name_for(slot, shadow));
                locals.pop_back();
            }
            if (way == 1) {
                std::reverse(names.begin(), names.end());
            }
        }
        if (names.empty()) {
            for (std::uint32_t i = m_source.below(4) + 1; i != 0; i--) {
                names.push_back(any_name(slot));
            }
        }
        change(removed_event{slot, any_tier(), names});
        compare(m_shadow.locals(m_shadow.size() == 0 ? 0 : 1 + m_source.below(m_shadow.size())));
    }

    void query() {
        const chains& known = m_source.below(4) == 0 ? m_shadow : m_oracle.all_chains();
        std::vector<local_hash> locals;
        if (known.size() != 0) {
            locals = known.locals(1 + m_source.below(known.size()));
        }
        switch (m_source.below(4)) {
        case 0:
            if (!locals.empty()) {
                locals[m_source.below(static_cast<std::uint32_t>(locals.size()))] ^= 1;
            }
            break;
        case 1:
            for (std::uint32_t i = m_source.below(8); i != 0; i--) {
                locals.push_back(1000 + m_source.below(m_alphabet));
            }
            break;
        case 2:
            locals.resize(m_source.below(static_cast<std::uint32_t>(locals.size()) + 1));
            break;
        default:
            break;
        }
        compare(locals);
    }

    void change(const event& e) {
        const applied_counts expected = m_oracle.apply(e);
        applied_counts counts;
        event mine = e;
        std::visit([&](auto& kind) { kind.slot = m_handles[number_of(kind.slot)]; }, mine);
        counts = m_index->apply({&mine, 1});
        if (counts.applied != expected.applied || counts.orphans != expected.orphans ||
            counts.unknown_removed != expected.unknown_removed || counts.ignored != expected.ignored) {
            throw disagreement("the counts of an event differ");
        }
    }

    void compare(const std::vector<local_hash>& locals) {
        const std::vector<hit> expected = m_oracle.match(locals);
        std::vector<hit> hits(slot_numbers);
        const match_result result = m_index->match(0, locals, hits);
        hits.resize(result.hits);
        const auto same = [](const hit& a, const hit& b) { return a.slot == b.slot && a.depth == b.depth; };
        if (!result.fits || !std::equal(hits.begin(), hits.end(), expected.begin(), expected.end(), same)) {
            throw disagreement("a prompt of " + std::to_string(locals.size()) + " blocks: expected " +
                               text(expected) + ", is " + text(hits));
        }
        compare_batch(locals);
    }

    /// The prompt, starts of it and the one before, at once: the same as one by one.
    void compare_batch(const std::vector<local_hash>& locals) {
        constexpr std::uint32_t stride = 64;
        const std::size_t half = locals.size() / 2;
        const std::array<kvindex::query, 4> queries{kvindex::query{.locals = locals},
                                                    kvindex::query{.locals = m_asked_before},
                                                    kvindex::query{.locals = std::span(locals).first(half)},
                                                    kvindex::query{.locals = locals, .name_space = 1}};
        std::vector<std::uint32_t> rows(queries.size() * tier_count * stride, 77);
        m_index->match_batch(queries, tier_count, rows.data(), stride, {});
        for (std::size_t i = 0; i < queries.size(); i++) {
            std::vector<std::uint32_t> one(tier_count * stride, 77);
            m_index->match_dense(queries[i].name_space, queries[i].locals, tier_count, one.data(), stride);
            if (!std::equal(one.begin(), one.end(), rows.data() + i * one.size())) {
                throw disagreement("look-up " + std::to_string(i) + " of a batch differs from the same alone");
            }
        }
        m_asked_before = locals;
    }

    void compare_sums() {
        const statistics expected = m_oracle.stats();
        const statistics s = m_index->stats();
        if (s.slots != expected.slots || s.blocks < expected.blocks || s.orphans != expected.orphans ||
            s.residencies != expected.residencies) {
            std::ostringstream text;
            text << "sums (slots, blocks, residencies, orphans): expected " << expected.slots << ' '
                 << expected.blocks << ' ' << expected.residencies << ' ' << expected.orphans << ", is "
                 << s.slots << ' ' << s.blocks << ' ' << s.residencies << ' ' << s.orphans;
            throw disagreement(text.str());
        }
        if (s.moves != expected.moves || s.orphans_given_up != expected.orphans_given_up) {
            throw disagreement("the counts of moves or of given up orphans differ");
        }
    }

    /// The oracle counts all that it holds for it, which is dear: a wrong count stays wrong, so now and then is
    /// enough.
    void compare_blocks() {
        std::array<tier_blocks, 64> blocks;
        blocks.fill({7, 7, 7, 7});
        const std::uint32_t bound = m_index->slot_blocks(blocks);
        if (bound != m_index->slot_bound()) {
            throw disagreement("blocks of " + std::to_string(bound) + " slots are told");
        }
        for (std::uint32_t slot = 0; slot < bound; slot++) {
            if (const tier_blocks expected = m_oracle.blocks_of(slot); blocks[slot] != expected) {
                std::ostringstream text;
                text << "blocks by tier of slot " << slot << ": expected";
                std::for_each(expected.begin(), expected.end(), [&](std::uint64_t n) { text << ' ' << n; });
                text << ", is";
                std::for_each(blocks[slot].begin(), blocks[slot].end(),
                              [&](std::uint64_t n) { text << ' ' << n; });
                throw disagreement(text.str());
            }
        }
    }

    static std::string text(const std::vector<hit>& hits) {
        std::ostringstream out;
        for (const hit& h : hits) {
            out << '[' << h.slot << ':';
            for (const std::uint32_t depth : h.depth) {
                out << ' ' << depth;
            }
            out << ']';
        }
        return out.str();
    }

    Source& m_source;
    bool m_wild;
    std::uint64_t m_limit;
    std::uint32_t m_alphabet;
    std::uint32_t m_longest;
    options m_options;
    std::unique_ptr<prefix_index> m_index;
    oracle m_oracle;
    std::vector<local_hash> m_asked_before;
    chains m_shadow; // every chain that an engine had, told or not
    std::array<slot_id, slot_numbers> m_handles{slot_id{0}, slot_id{1}, slot_id{2},
                                                slot_id{3}, slot_id{4}, slot_id{5}};
};

} // namespace kvindex::tests
