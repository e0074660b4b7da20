/// Fuzz body: the bytes choose calls of every function of the ABI, with right and wrong arguments. A call that
/// is refused says why as the header promises, writes nothing and changes nothing; answers agree with each
/// other.
#include "abi_calls.hpp"

#include "kvindex.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <vector>

namespace {

std::uint64_t calls_made = 0;

#define REQUIRE(condition)                                                                                     \
    do {                                                                                                       \
        if (!(condition)) {                                                                                    \
            std::fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);                 \
            std::abort();                                                                                      \
        }                                                                                                      \
    } while (0)

constexpr std::uint8_t pattern = 0x5a;
constexpr std::uint32_t longest = 12;

/// Room for `count` values, aligned, and not one byte longer, so that the address sanitizer sees any other
/// access.
template <typename T>
class room {
public:
    explicit room(std::size_t count) : m_bytes(new std::byte[count * sizeof(T)]), m_count(count) {
        std::memset(m_bytes.get(), pattern, count * sizeof(T));
    }

    T* data() {
        return reinterpret_cast<T*>(m_bytes.get());
    }

    T& operator[](std::size_t i) {
        return data()[i];
    }

    bool untouched() const {
        return std::all_of(m_bytes.get(), m_bytes.get() + m_count * sizeof(T),
                           [](std::byte b) { return b == std::byte{pattern}; });
    }

private:
    std::unique_ptr<std::byte[]> m_bytes;
    std::size_t m_count;
};

/// What the bytes say to do next.
class choices {
public:
    choices(const std::uint8_t* data, std::size_t size) : m_data(data), m_left(size) {
    }

    bool more() const {
        return m_left != 0;
    }

    std::uint32_t below(std::uint32_t n) {
        std::uint32_t value = 0;
        for (std::uint32_t reach = n; reach > 1 && m_left != 0; reach = (reach + 255) / 256) {
            value = value << 8 | *m_data++;
            m_left--;
        }
        return value % n;
    }

    bool one_in(std::uint32_t n) {
        return below(n) == n - 1; // never when the bytes are used up
    }

private:
    const std::uint8_t* m_data;
    std::size_t m_left;
};

class caller {
public:
    caller(const std::uint8_t* data, std::size_t size) : m_choices(data, size) {
        kvi_config config{};
        config.size = sizeof config;
        config.max_blocks = 1u << 17;
        config.orphan_limit = 1 + m_choices.below(2) * 40;
        config.ghost_percent = std::array<std::uint32_t, 3>{101, 1, 0}[m_choices.below(3)];
        m_ghosts = config.ghost_percent != 101;
        config.decision_ttl = 50;
        config.decision_capacity = m_capacity = m_choices.below(2) == 0 ? 1000 : 8;
        REQUIRE(kvi_open(&config, &m_index) == KVI_OK);
        m_before = look();
    }

    ~caller() {
        for (const std::uint32_t slot : m_slots) {
            static_cast<void>(kvi_slot_close(m_index, slot));
        }
        const kvi_statistics s = look().stats;
        REQUIRE(s.slots == 0 && s.residencies == 0 && s.orphans == 0);
        REQUIRE(m_ghosts || (s.blocks == 0 && s.runs == 0 && s.ghosts == 0));
        REQUIRE(kvi_close(m_index) == KVI_OK);
    }

    caller(const caller&) = delete;
    caller& operator=(const caller&) = delete;

    void run() {
        while (m_choices.more()) {
            calls_made++;
            switch (m_choices.below(19)) {
            case 0:
                slot_open();
                break;
            case 1:
                slot_close();
                break;
            case 2:
                match_tokens();
                break;
            case 3:
                match_dense();
                break;
            case 4:
                match_locals();
                break;
            case 5:
                hash();
                break;
            case 6:
                others();
                break;
            case 7:
            case 8:
                decide();
                break;
            case 9:
                expire();
                break;
            case 16:
                match_batch();
                break;
            case 17:
                best();
                break;
            case 18:
                slot_blocks();
                break;
            default:
                apply();
            }
        }
    }

private:
    /// Everything that can be seen of the index.
    struct state {
        kvi_statistics stats{};
        std::array<std::uint32_t, 4 * 128 * KVI_TIERS> depths{};
        std::array<kvi_tier_blocks, 128> blocks{};

        bool operator==(const state& o) const {
            return std::memcmp(&stats, &o.stats, sizeof stats) == 0 && depths == o.depths &&
                   std::memcmp(&blocks, &o.blocks, sizeof blocks) == 0;
        }
    };

    state look() const {
        state s;
        REQUIRE(kvi_stats(m_index, &s.stats) == KVI_OK);
        for (std::uint32_t i = 0; i < 4; i++) {
            const auto prompt = prompt_of(i / 2, longest);
            REQUIRE(kvi_match_dense(m_index, i % 2, prompt.data(), longest, KVI_TIERS,
                                    s.depths.data() + i * 128 * KVI_TIERS, 128) == KVI_OK);
        }
        std::uint32_t bound = 0;
        std::uint32_t slots = 0;
        REQUIRE(kvi_slot_bound(m_index, &bound) == KVI_OK);
        REQUIRE(kvi_slot_blocks(m_index, s.blocks.data(), 128, &slots) == KVI_OK && slots == bound);
        check_blocks(s);
        return s;
    }

    /// A slot holds at least the blocks that a look-up finds there. All slots together hold at least the pairs
    /// of slot and block, and at most one such pair in every tier.
    void check_blocks(const state& s) const {
        std::uint64_t sum = 0;
        for (std::uint32_t slot = 0; slot < 128; slot++) {
            std::uint64_t own = 0;
            for (const std::uint64_t n : s.blocks[slot].blocks) {
                REQUIRE(n <= s.stats.residencies);
                own += n;
            }
            sum += own;
            for (std::uint32_t i = 0; i < 4; i++) {
                const std::uint32_t* depths = s.depths.data() + i * 128 * KVI_TIERS + slot;
                REQUIRE(depths[0] <= s.blocks[slot].blocks[0] && depths[(KVI_TIERS - 1) * 128] <= own);
            }
        }
        REQUIRE(sum >= s.stats.residencies && sum <= s.stats.residencies * KVI_TIERS);
    }

    /// `status` is what it should be; a refusal, or a call that only reads, changed nothing.
    void settle(std::int32_t status, std::int32_t wanted, bool may_change) {
        if (status != wanted) {
            std::fprintf(stderr, "status %d, expected %d\n", status, wanted);
        }
        REQUIRE(status == wanted);
        const state now = look();
        REQUIRE((status == KVI_OK && may_change) || now == m_before);
        m_before = now;
    }

    /// Prompts that share their starts.
    static std::vector<std::uint64_t> prompt_of(std::uint32_t which, std::uint32_t blocks) {
        std::vector<std::uint64_t> out(blocks);
        for (std::uint32_t i = 0; i < blocks; i++) {
            out[i] = i < 3 ? 10 + i : 100 * (which + 1) + i;
        }
        return out;
    }

    std::uint32_t any_slot() {
        if (m_slots.empty() || m_choices.one_in(8)) {
            return std::array<std::uint32_t, 5>{0, 1, KVI_MAX_SLOTS - 1, KVI_MAX_SLOTS,
                                                0xffffffffu}[m_choices.below(5)];
        }
        return m_slots[m_choices.below(static_cast<std::uint32_t>(m_slots.size()))];
    }

    std::uint32_t name_space() {
        return m_choices.one_in(12) ? KVI_MAX_NAME_SPACES + m_choices.below(2) : m_choices.below(2);
    }

    void slot_open() {
        if (m_slots.size() > 100) {
            return;
        }
        const std::uint32_t domain = m_choices.one_in(12) ? KVI_MAX_DOMAINS : m_choices.below(2);
        const std::uint32_t space = name_space();
        const bool null = m_choices.one_in(16);
        const bool approximate = m_choices.below(2) != 0;
        room<std::uint32_t> slot(1);
        const bool good = domain < KVI_MAX_DOMAINS && space < KVI_MAX_NAME_SPACES && !null;
        const auto open = approximate ? kvi_slot_open_approximate : kvi_slot_open;
        const std::int32_t status = open(m_index, domain, space, null ? nullptr : slot.data());
        settle(status, good ? KVI_OK : KVI_E_ARGUMENT, true);
        REQUIRE(good != slot.untouched());
        if (good) {
            REQUIRE(std::find(m_slots.begin(), m_slots.end(), slot[0]) == m_slots.end());
            m_slots.push_back(slot[0]);
            m_open.push_back(slot[0]);
            if (approximate) {
                m_spaces[slot[0]] = space;
            }
        }
    }

    void slot_close() {
        const std::uint32_t slot = any_slot();
        const auto open = std::find(m_open.begin(), m_open.end(), slot);
        const bool there = open != m_open.end();
        settle(kvi_slot_close(m_index, slot), there ? KVI_OK : KVI_E_SLOT, true);
        if (there) {
            m_open.erase(open);
            m_spaces.erase(slot);
        }
    }

    /// One record; names follow the content most often, so that chains come about.
    void append_event(std::vector<std::uint64_t>& buffer) {
        kvi_event e{};
        const std::uint32_t which = m_choices.below(2);
        const std::uint32_t from = m_choices.below(4) == 0 ? m_choices.below(longest) : 0;
        e.kind = static_cast<std::uint8_t>(1 + m_choices.below(4));
        e.slot = any_slot();
        e.tier = static_cast<std::uint8_t>(m_choices.below(8) < 5 ? 0 : m_choices.below(KVI_TIERS));
        e.n = 1 + m_choices.below(longest - from);
        const auto prompt = prompt_of(which, longest);
        std::vector<std::uint64_t> payload;
        for (std::uint32_t i = from; i < from + e.n; i++) {
            payload.push_back(m_choices.one_in(24) ? m_choices.below(4) : prompt[i] << 8);
        }
        if (e.kind == KVI_STORED_LOCALS) {
            payload.insert(payload.end(), prompt.begin() + from, prompt.begin() + from + e.n);
        } else if (e.kind == KVI_STORED_TOKENS) {
            e.block_size = 1 + m_choices.below(4);
            e.seed = m_choices.below(2);
            payload.resize(payload.size() + (std::uint64_t{e.n} * e.block_size + 1) / 2, 7);
        } else if (e.kind == KVI_CLEARED) {
            e.tier = m_choices.below(2) == 0 ? KVI_ALL_TIERS : e.tier;
            e.n = m_choices.below(3) != 0 ? 1 : 0; // most often malformed: it would empty the slot
            payload.clear();
        }
        if (from != 0 && (e.kind == KVI_STORED_LOCALS || e.kind == KVI_STORED_TOKENS)) {
            e.flags = KVI_HAS_PARENT;
            e.parent = prompt[from - 1] << 8;
        }
        e.size = static_cast<std::uint32_t>(sizeof e + payload.size() * 8);
        const std::size_t at = buffer.size();
        buffer.resize(at + sizeof e / 8);
        std::memcpy(buffer.data() + at, &e, sizeof e);
        buffer.insert(buffer.end(), payload.begin(), payload.end());
    }

    void apply() {
        std::vector<std::uint64_t> buffer;
        const std::uint32_t records = 1 + m_choices.below(4);
        for (std::uint32_t i = 0; i < records; i++) {
            append_event(buffer);
        }
        std::uint64_t length = buffer.size() * 8;
        auto* const bytes = reinterpret_cast<std::uint8_t*>(buffer.data());
        const bool hostile = m_choices.one_in(3);
        if (hostile) {
            for (std::uint32_t i = m_choices.below(4); i != 0; i--) { // heads most often
                const std::uint32_t at = m_choices.below(static_cast<std::uint32_t>(length));
                bytes[m_choices.below(2) == 0 ? at % 40 : at] = static_cast<std::uint8_t>(m_choices.below(256));
            }
            length -= m_choices.below(4) == 0 ? m_choices.below(static_cast<std::uint32_t>(length)) : 0;
        }
        const std::uint32_t wrong = m_choices.one_in(16) ? m_choices.below(3) + 1 : 0;
        const std::unique_ptr<std::byte[]> exact(new std::byte[length + 8]);
        std::memcpy(exact.get(), bytes, length);
        const void* start = wrong == 1 ? nullptr : wrong == 2 ? exact.get() + 4 : exact.get();
        room<kvi_applied> out(1);
        const std::int32_t status = kvi_apply(m_index, start, length, wrong == 3 ? nullptr : out.data());
        const bool refused = wrong == 3 || (wrong != 0 && length != 0);
        const bool idle = !refused && out[0].applied == 0 && out[0].orphans == 0;
        settle(status, refused ? KVI_E_ARGUMENT : KVI_OK, !idle);
        REQUIRE(refused == out.untouched());
        const std::uint64_t seen =
            refused ? 0 : out[0].applied + out[0].orphans + out[0].ignored + out[0].malformed;
        REQUIRE(refused || hostile || seen == records);
    }

    /// What was decided is held, by this slot.
    void decide() {
        const std::uint32_t slot = any_slot();
        const std::uint32_t count = m_choices.one_in(16) ? KVI_MAX_BLOCKS + 1 : m_choices.below(longest + 1);
        const std::uint32_t wrong = m_choices.one_in(12) ? m_choices.below(4) + 1 : 0;
        auto prompt = prompt_of(m_choices.below(2), longest);
        const auto* locals =
            wrong == 1   ? nullptr
            : wrong == 2 ? reinterpret_cast<std::uint64_t*>(reinterpret_cast<std::uintptr_t>(prompt.data()) + 4)
                         : prompt.data();
        m_now = m_choices.one_in(64) ? ~std::uint64_t{0} : m_now + m_choices.below(30);
        room<std::uint64_t> fresh(1);
        const std::int32_t status = kvi_decide(wrong == 3 ? nullptr : m_index, slot, locals, count, m_now,
                                               wrong == 4 ? nullptr : fresh.data());
        const bool refused = wrong > 2 || count > KVI_MAX_BLOCKS || (wrong != 0 && count != 0);
        const auto space = m_spaces.find(slot);
        const bool there = space != m_spaces.end();
        settle(status, refused ? KVI_E_ARGUMENT : there ? KVI_OK : KVI_E_SLOT, true);
        REQUIRE((status == KVI_OK) != fresh.untouched());
        if (status == KVI_OK) {
            REQUIRE(fresh[0] <= count);
            std::array<std::uint32_t, 128> row{};
            REQUIRE(kvi_match_dense(m_index, space->second, prompt.data(), count, 1, row.data(), 128) ==
                    KVI_OK);
            REQUIRE(row[slot & KVI_SLOT_NUMBER] == std::min<std::uint64_t>(count, m_capacity));
        }
    }

    void expire() {
        m_now += m_choices.below(100);
        const std::uint32_t wrong = m_choices.one_in(8) ? m_choices.below(2) + 1 : 0;
        const std::uint64_t before = m_before.stats.decisions;
        room<std::uint64_t> ended(1);
        const std::int32_t status =
            kvi_expire(wrong == 1 ? nullptr : m_index, m_now, wrong == 2 ? nullptr : ended.data());
        settle(status, wrong != 0 ? KVI_E_ARGUMENT : KVI_OK, true);
        REQUIRE((status == KVI_OK) != ended.untouched());
        REQUIRE(status != KVI_OK || ended[0] == before - m_before.stats.decisions);
    }

    void slot_blocks() {
        const std::uint32_t capacity = m_choices.below(3) == 0 ? m_choices.below(70) : 128;
        const std::uint32_t wrong = m_choices.one_in(6) ? m_choices.below(4) + 1 : 0;
        room<kvi_tier_blocks> blocks(capacity + 1);
        room<std::uint32_t> count(1);
        std::uint32_t bound = 0;
        REQUIRE(kvi_slot_bound(m_index, &bound) == KVI_OK);
        auto* const skewed =
            reinterpret_cast<kvi_tier_blocks*>(reinterpret_cast<std::uintptr_t>(blocks.data()) + 4);
        const std::int32_t status = kvi_slot_blocks(wrong == 1 ? nullptr : m_index,
                                                    wrong == 2   ? nullptr
                                                    : wrong == 3 ? skewed
                                                                 : blocks.data(),
                                                    capacity, wrong == 4 ? nullptr : count.data());
        const bool refused = wrong == 1 || wrong == 4 || (wrong != 0 && capacity != 0);
        settle(status, refused ? KVI_E_ARGUMENT : capacity < bound ? KVI_E_CAPACITY : KVI_OK, false);
        REQUIRE(status == KVI_OK ? count[0] == bound : blocks.untouched() && count.untouched());
        REQUIRE(status != KVI_OK ||
                std::memcmp(blocks.data(), m_before.blocks.data(), bound * sizeof(kvi_tier_blocks)) == 0);
    }

    void match_locals() {
        const std::uint32_t space = name_space();
        const std::uint32_t count = m_choices.one_in(16) ? KVI_MAX_BLOCKS + 1 : m_choices.below(longest + 1);
        const std::uint32_t capacity = m_choices.below(4) == 0 ? m_choices.below(8) : 128;
        const std::uint32_t wrong = m_choices.one_in(12) ? m_choices.below(4) + 1 : 0;
        const std::uint32_t which = m_choices.below(2);
        auto prompt = prompt_of(which, longest);
        const auto* locals =
            wrong == 1   ? nullptr
            : wrong == 2 ? reinterpret_cast<std::uint64_t*>(reinterpret_cast<std::uintptr_t>(prompt.data()) + 4)
                         : prompt.data();
        room<kvi_hit> hits(capacity);
        room<std::uint32_t> number(1);
        const std::int32_t status =
            kvi_match_locals(m_index, space, locals, count, wrong == 3 ? nullptr : hits.data(), capacity,
                             wrong == 4 ? nullptr : number.data());
        const bool refused = space >= KVI_MAX_NAME_SPACES || count > KVI_MAX_BLOCKS || wrong == 4 ||
                             (wrong == 3 && capacity != 0) || ((wrong == 1 || wrong == 2) && count != 0);
        std::array<std::uint32_t, 128 * KVI_TIERS> rows{};
        std::uint32_t expected = 0;
        if (!refused) {
            REQUIRE(kvi_match_dense(m_index, space, prompt.data(), count, KVI_TIERS, rows.data(), 128) ==
                    KVI_OK);
            expected = static_cast<std::uint32_t>(
                std::count_if(rows.end() - 128, rows.end(), [](std::uint32_t d) { return d != 0; }));
        }
        const bool fits = expected <= capacity;
        settle(status, refused ? KVI_E_ARGUMENT : fits ? KVI_OK : KVI_E_CAPACITY, false);
        REQUIRE((status == KVI_OK) != number.untouched());
        REQUIRE(status == KVI_OK || hits.untouched());
        for (std::uint32_t i = 0; status == KVI_OK && i < expected; i++) {
            REQUIRE(number[0] == expected && (i == 0 || hits[i - 1].slot < hits[i].slot));
            for (std::uint32_t t = 0; t < KVI_TIERS; t++) {
                REQUIRE(hits[i].depth[t] == rows[t * 128 + hits[i].slot] && hits[i].depth[t] <= count);
                REQUIRE(t == 0 || hits[i].depth[t - 1] <= hits[i].depth[t]);
            }
        }
    }

    void match_dense() {
        const std::uint32_t space = name_space();
        const std::uint32_t tiers = m_choices.one_in(8)       ? m_choices.below(8)
                                    : m_choices.below(2) == 0 ? 1
                                                              : KVI_TIERS;
        const std::uint32_t stride = m_choices.one_in(8) ? m_choices.below(200) : 64 * m_choices.below(4);
        const bool null = m_choices.one_in(16);
        const auto prompt = prompt_of(m_choices.below(2), longest);
        std::uint32_t bound = 0;
        REQUIRE(kvi_slot_bound(m_index, &bound) == KVI_OK && bound % 64 == 0);
        room<std::uint32_t> rows(std::size_t{stride} * tiers);
        const std::int32_t status = kvi_match_dense(m_index, space, prompt.data(), longest, tiers,
                                                    null ? nullptr : rows.data(), stride);
        const bool refused = space >= KVI_MAX_NAME_SPACES || (tiers != 1 && tiers != KVI_TIERS) ||
                             stride % 64 != 0 || (null && stride != 0);
        settle(status, refused ? KVI_E_ARGUMENT : stride < bound ? KVI_E_CAPACITY : KVI_OK, false);
        REQUIRE(status == KVI_OK || rows.untouched());
    }

    /// Some queries over one array of hashes: both prompts, one behind the other. `good`: all of them are.
    std::vector<kvi_query> some_queries(std::vector<std::uint64_t>& locals, bool& good) {
        locals = prompt_of(0, longest);
        const auto second = prompt_of(1, longest);
        locals.insert(locals.end(), second.begin(), second.end());
        std::vector<kvi_query> out(m_choices.below(6));
        good = !out.empty();
        for (kvi_query& q : out) {
            q.offset = m_choices.one_in(24) ? ~std::uint64_t{0} - m_choices.below(3) : m_choices.below(longest);
            q.count = m_choices.one_in(24) ? KVI_MAX_BLOCKS + m_choices.below(2) : m_choices.below(longest + 2);
            q.name_space = name_space();
            q.budget = m_choices.below(4) == 0 ? m_choices.below(40) : 0;
            q.reserved = m_choices.one_in(24) ? 1 : 0;
            good = good && q.offset <= 2 * longest && q.count <= 2 * longest - q.offset &&
                   q.name_space < KVI_MAX_NAME_SPACES && q.reserved == 0;
        }
        return out;
    }

    /// Depths of one query alone, with the same budget.
    std::vector<std::uint32_t> alone(const kvi_query& q, const std::vector<std::uint64_t>& locals,
                                     kvi_looked& how) const {
        std::vector<std::uint32_t> rows(128 * KVI_TIERS, 77);
        REQUIRE(kvi_match_batch(m_index, &q, 1, locals.data(), locals.size(), KVI_TIERS, rows.data(), 128,
                                &how) == KVI_OK);
        std::vector<std::uint32_t> dense(128 * KVI_TIERS);
        REQUIRE(kvi_match_dense(m_index, q.name_space, locals.data() + q.offset, q.count, KVI_TIERS,
                                dense.data(), 128) == KVI_OK);
        std::uint32_t bound = 0;
        REQUIRE(kvi_slot_bound(m_index, &bound) == KVI_OK);
        for (std::uint32_t i = 0; i < 128 * KVI_TIERS; i++) { // what is beyond the bound is not written
            REQUIRE(i % 128 >= bound || rows[i] == dense[i] || (how.cut_short == 1 && rows[i] < dense[i]));
        }
        return rows;
    }

    void match_batch() {
        std::vector<std::uint64_t> locals;
        bool good = false;
        const auto queries = some_queries(locals, good);
        const auto n = static_cast<std::uint32_t>(queries.size());
        const std::uint32_t tiers = m_choices.one_in(12) ? 2 : m_choices.below(2) == 0 ? 1 : KVI_TIERS;
        const std::uint32_t stride = m_choices.one_in(8) ? 32 + m_choices.below(2) * 32 : 128;
        const std::uint32_t wrong = m_choices.one_in(12) ? 1 + m_choices.below(4) : 0;
        room<std::uint32_t> rows(std::size_t{n} * tiers * stride);
        room<kvi_looked> looked(n);
        std::uint32_t bound = 0;
        REQUIRE(kvi_slot_bound(m_index, &bound) == KVI_OK);
        const std::int32_t status = kvi_match_batch(
            m_index, wrong == 1 ? nullptr : queries.data(), wrong == 2 ? KVI_MAX_QUERIES + 1 : n,
            wrong == 3 ? nullptr : locals.data(), locals.size(), tiers, wrong == 4 ? nullptr : rows.data(),
            stride, m_choices.below(4) == 0 ? nullptr : looked.data());
        const bool refused = !good || wrong != 0 || tiers == 2 || stride % 64 != 0;
        settle(status, refused ? KVI_E_ARGUMENT : stride < bound ? KVI_E_CAPACITY : KVI_OK, false);
        REQUIRE(status == KVI_OK || (rows.untouched() && looked.untouched()));
        for (std::uint32_t i = 0; status == KVI_OK && i < n; i++) {
            kvi_looked how{};
            const auto expected = alone(queries[i], locals, how);
            for (std::uint32_t t = 0; t < tiers; t++) {
                for (std::uint32_t s = 0; s < bound; s++) {
                    // The tiers asked for change neither the path nor its steps, but where the budget ends it.
                    REQUIRE(rows[(i * tiers + t) * stride + s] == expected[t * 128 + s] ||
                            (queries[i].budget != 0 && tiers == 1));
                }
            }
        }
    }

    void best() {
        std::vector<std::uint64_t> locals;
        bool good = false;
        const auto queries = some_queries(locals, good);
        const auto n = static_cast<std::uint32_t>(queries.size());
        const std::uint32_t stride = m_choices.one_in(8) ? 32 + m_choices.below(2) * 32 : 128;
        const std::uint32_t k =
            m_choices.one_in(12) ? m_choices.below(2) * (KVI_MAX_SLOTS + 1) : 1 + m_choices.below(5);
        const std::array<double, 4> strange{std::numeric_limits<double>::quiet_NaN(),
                                            std::numeric_limits<double>::infinity(),
                                            -std::numeric_limits<double>::infinity(), 1e31};
        std::vector<kvi_cost> costs(n);
        for (kvi_cost& c : costs) {
            c = {{1, 0.75, 0.25, 0.25}, 0.5, 12, 1, 1, 1, 0, m_choices.below(16), m_choices.below(4)};
            if (m_choices.one_in(24)) {
                (m_choices.below(2) == 0 ? c.unit : c.credit[m_choices.below(KVI_TIERS)]) =
                    strange[m_choices.below(4)];
                good = false;
            }
        }
        std::vector<double> prefill(128);
        std::vector<double> base(128);
        for (std::uint32_t i = 0; i < 8; i++) {
            prefill[i] = m_choices.below(4);
            base[i] = m_choices.below(6) == 0 ? strange[1] : m_choices.below(4);
        }
        if (m_choices.one_in(24)) {
            const std::uint32_t which = m_choices.below(4);
            const bool in_base = m_choices.below(2) == 1;
            (in_base ? base : prefill)[m_choices.below(stride)] = strange[which];
            good = good && in_base && which == 1;
        }
        const std::uint32_t wrong = m_choices.one_in(12) ? 1 + m_choices.below(5) : 0;
        room<kvi_choice> out(k > KVI_MAX_SLOTS ? 0 : std::size_t{n} * k);
        room<kvi_best_found> found(n);
        std::uint32_t bound = 0;
        REQUIRE(kvi_slot_bound(m_index, &bound) == KVI_OK);
        const std::int32_t status = kvi_best(
            m_index, queries.data(), n, locals.data(), locals.size(), wrong == 1 ? nullptr : costs.data(),
            wrong == 2 ? nullptr : prefill.data(), wrong == 3 ? nullptr : base.data(), stride, k,
            wrong == 4 ? nullptr : out.data(), wrong == 5 ? nullptr : found.data());
        const bool refused = !good || wrong != 0 || k == 0 || k > KVI_MAX_SLOTS || stride % 64 != 0;
        settle(status, refused ? KVI_E_ARGUMENT : stride < bound ? KVI_E_CAPACITY : KVI_OK, false);
        REQUIRE(status == KVI_OK || (out.untouched() && found.untouched()));
        for (std::uint32_t i = 0; status == KVI_OK && i < n; i++) {
            kvi_looked how{};
            const auto rows = alone(queries[i], locals, how);
            REQUIRE(found[i].count <= k && found[i].count <= m_open.size() && found[i].how.steps == how.steps);
            REQUIRE((found[i].ties != 0) == (found[i].count != 0));
            for (std::uint32_t c = 0; c < found[i].count; c++) {
                const kvi_choice& one = out[i * k + c];
                REQUIRE(std::any_of(m_open.begin(), m_open.end(),
                                    [&](std::uint32_t s) { return (s & KVI_SLOT_NUMBER) == one.slot; }));
                REQUIRE(base[one.slot] != strange[1] && one.reserved == 0);
                for (std::uint32_t t = 0; t < KVI_TIERS; t++) {
                    REQUIRE(one.depth[t] == rows[t * 128 + one.slot]);
                }
                REQUIRE(c == 0 || out[i * k + c - 1].cost < one.cost ||
                        (out[i * k + c - 1].cost == one.cost && out[i * k + c - 1].slot < one.slot));
            }
        }
    }

    void match_tokens() {
        const std::uint32_t space = name_space();
        const std::uint32_t block_size =
            m_choices.one_in(12) ? m_choices.below(2) * (KVI_MAX_BLOCK_SIZE + 1) : 1 + m_choices.below(4);
        const std::vector<std::uint32_t> tokens(40, 7);
        const std::uint32_t count = m_choices.below(41);
        const bool wanted = m_choices.below(2) == 0;
        const std::uint32_t capacity = m_choices.below(50);
        room<std::uint64_t> sequence(capacity);
        room<kvi_hit> hits(128);
        room<std::uint32_t> number(1);
        const std::int32_t status =
            kvi_match_tokens(m_index, space, tokens.data(), count, block_size, m_choices.below(2),
                             wanted ? sequence.data() : nullptr, capacity, hits.data(), 128, number.data());
        const bool refused = space >= KVI_MAX_NAME_SPACES || block_size == 0 || block_size > KVI_MAX_BLOCK_SIZE;
        const bool fits = refused || !wanted || count / block_size <= capacity;
        settle(status, refused ? KVI_E_ARGUMENT : fits ? KVI_OK : KVI_E_CAPACITY, false);
        REQUIRE(status == KVI_OK || (sequence.untouched() && hits.untouched() && number.untouched()));
        REQUIRE(status != KVI_OK || number[0] <= m_open.size());
    }

    void hash() {
        const std::uint32_t block_size = m_choices.one_in(8) ? 0 : 1 + m_choices.below(4);
        const std::vector<std::uint32_t> tokens(40, 7);
        const std::uint32_t count = m_choices.below(41);
        const std::uint32_t capacity = m_choices.below(50);
        room<std::uint64_t> locals(capacity);
        room<std::uint64_t> sequence(capacity);
        room<std::uint32_t> number(1);
        const std::uint32_t which = m_choices.below(4);
        const std::int32_t status =
            kvi_hash(tokens.data(), count, block_size, 1337, (which & 1) != 0 ? locals.data() : nullptr,
                     (which & 2) != 0 ? sequence.data() : nullptr, capacity, number.data());
        const bool fits = block_size == 0 || which == 0 || count / block_size <= capacity;
        settle(status, block_size == 0 ? KVI_E_ARGUMENT : fits ? KVI_OK : KVI_E_CAPACITY, false);
        REQUIRE(status == KVI_OK || (locals.untouched() && sequence.untouched() && number.untouched()));
        REQUIRE(status != KVI_OK || number[0] == count / block_size);
        REQUIRE(status != KVI_OK || which != 3 || number[0] == 0 || locals[0] == sequence[0]);
        page_digests(tokens, count, block_size, which, capacity);
    }

    /// `flags` of 2 and 3 do not exist.
    void page_digests(const std::vector<std::uint32_t>& tokens, std::uint32_t count, std::uint32_t page_size,
                      std::uint32_t flags, std::uint32_t capacity) {
        const std::vector<std::uint8_t> seed(KVI_PAGE_DIGEST, 9);
        room<std::uint8_t> digests(capacity * KVI_PAGE_DIGEST);
        room<std::uint32_t> number(1);
        const std::uint32_t elements = flags == KVI_BIGRAMS && count != 0 ? count - 1 : count;
        const std::int32_t status =
            kvi_page_digests(tokens.data(), count, page_size, flags, seed.data(),
                             capacity % 2 == 0 ? 0 : KVI_PAGE_DIGEST, digests.data(), capacity, number.data());
        const bool refused = page_size == 0 || flags > KVI_BIGRAMS;
        const bool fits = refused || elements / page_size <= capacity;
        settle(status, refused ? KVI_E_ARGUMENT : fits ? KVI_OK : KVI_E_CAPACITY, false);
        REQUIRE(status == KVI_OK || (digests.untouched() && number.untouched()));
        REQUIRE(status != KVI_OK || number[0] == elements / page_size);
    }

    /// Those without much to get wrong.
    void others() {
        const bool null = m_choices.one_in(4);
        room<std::uint64_t> seed(1);
        room<std::uint32_t> number(1);
        room<kvi_statistics> stats(1);
        const std::int32_t wanted = null ? KVI_E_ARGUMENT : KVI_OK;
        const std::vector<std::uint8_t> text(m_choices.below(20), 'x');
        const auto length = static_cast<std::uint32_t>(text.size());
        settle(kvi_seed(text.data(), length, nullptr, length, null ? nullptr : seed.data()), wanted, false);
        settle(kvi_slot_bound(null ? nullptr : m_index, number.data()), wanted, false);
        settle(kvi_stats(m_index, null ? nullptr : stats.data()), wanted, false);
        settle(kvi_slot_close(nullptr, 0), KVI_E_ARGUMENT, false);
        REQUIRE(null == number.untouched() && null == stats.untouched() && null == seed.untouched());
        room<char> lacks(64);
        const std::uint32_t capacity = m_choices.below(64);
        settle(kvi_cpu_lacks(null ? nullptr : lacks.data(), capacity),
               null || capacity == 0 ? KVI_E_ARGUMENT : KVI_OK, false);
        REQUIRE((null || capacity == 0) ? lacks.untouched() : lacks[0] == 0); // it runs here
        REQUIRE(std::strlen(kvi_status_text(static_cast<std::int32_t>(m_choices.below(20)) - 10)) != 0);
        kvi_config config{};
        config.size = m_choices.below(64);
        config.ghost_percent = m_choices.below(2) == 0 ? 102 + m_choices.below(50) : 0;
        config.max_blocks = m_choices.below(2) == 0 ? ~std::uint64_t{0} : 1u << 16;
        const bool good =
            config.size == sizeof config && config.ghost_percent == 0 && config.max_blocks == 1u << 16;
        kvi_index* other = nullptr;
        settle(kvi_open(&config, &other), good ? KVI_OK : KVI_E_ARGUMENT, false);
        REQUIRE(good == (other != nullptr) && kvi_close(other) == KVI_OK);
    }

    choices m_choices;
    kvi_index* m_index = nullptr;
    bool m_ghosts = false;
    std::vector<std::uint32_t> m_slots; ///< handles ever given out
    std::vector<std::uint32_t> m_open;
    std::map<std::uint32_t, std::uint32_t> m_spaces; ///< of open approximate slots
    std::uint64_t m_capacity = 0;
    std::uint64_t m_now = 0;
    state m_before;
};

} // namespace

std::uint64_t abi_calls_made() {
    return calls_made;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    caller(data, size).run();
    return 0;
}
