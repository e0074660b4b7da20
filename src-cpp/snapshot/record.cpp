#include "snapshot/record.hpp"

#include "index/names.hpp"
#include "snapshot/failure.hpp"

#include <bitset>

namespace kvindex::snapshot {
namespace {

using storage::core_slots;

/// Reads one record word by word; what is wrong is said with the byte of the last word read.
class checker {
public:
    checker(std::span<const std::uint64_t> words, std::uint64_t byte) : m_words(words), m_byte(byte) {
    }

    run_record check() {
        expect(m_words.size() >= run_head_words, "a run record is cut");
        const run_record r(m_words.data());
        m_run = r.run();
        const std::size_t size = r.words();
        expect(size >= run_head_words && size <= m_words.size(), "its record is longer than its section");
        expect(m_run != 0 && m_run != storage::root_run, "a run cannot have this number");
        m_at = 1;
        m_len = r.len();
        expect(m_len != 0 && m_len <= storage::max_run, "a run cannot have this length");
        expect(r.parent().run != 0 && r.parent().run != m_run, "a run cannot have this parent");
        expect(r.parent().run == storage::root_run || r.parent().offset < storage::max_run, "no such offset");
        m_at = 2;
        expect(r.planes() != 0 && r.holders() <= core_slots, "a run cannot have so many planes or holders");
        const std::size_t fixed = run_head_words + m_len + std::size_t{r.planes()} * (1 + m_len);
        const std::size_t least = fixed + r.holders() + std::size_t{r.spares()} * spare_words;
        expect(least <= size, "its parts are longer than its record");
        check_planes(r);
        m_at = fixed;
        m_end = size - std::size_t{r.spares()} * spare_words;
        for (std::uint32_t i = 0; i < r.holders(); i++) {
            check_holder();
        }
        expect(m_at == m_end, "its record is longer than its parts");
        m_end = size;
        for (std::uint32_t i = 0; i < r.spares(); i++) {
            check_spare();
        }
        return r;
    }

private:
    void expect(bool holds, const char* what) const {
        if (!holds) {
            throw damaged(m_byte + m_at * 8, "run " + std::to_string(m_run) + ": " + what);
        }
    }

    std::uint64_t next() {
        expect(m_at < m_end, "its holders are longer than its record");
        return m_words[m_at++];
    }

    void check_planes(const run_record& r) {
        for (std::uint32_t p = 0; p < r.planes(); p++) {
            m_at = run_head_words + m_len + std::size_t{p} * (1 + m_len);
            const std::uint32_t end = p == 0 ? index::private_domains : index::private_domain(core_slots);
            expect(m_words[m_at] < end, "no such domain of names");
        }
    }

    void check_holder() {
        const std::uint64_t head = next();
        const auto slot = static_cast<std::size_t>(head & 0xffff);
        const auto end = static_cast<std::uint32_t>(head >> 32);
        expect(slot < core_slots, "a holder's slot number is out of range");
        expect(!m_seen[slot], "a slot holds it twice");
        m_seen[slot] = true;
        expect(end != 0 && end <= m_len, "a slot holds beyond its end");
        index::stretch last{};
        const auto stretches = static_cast<std::uint32_t>(head >> 16 & 0xffff);
        for (std::uint32_t i = 0; i < stretches; i++) {
            const std::uint64_t word = next();
            const index::stretch s{static_cast<std::uint32_t>(word & 0xffff),
                                   static_cast<std::uint32_t>(word >> 16 & 0xffff),
                                   static_cast<tier_mask>(word >> 32)};
            expect(word >> 32 != 0 && word >> 32 <= all_tiers, "no such tiers");
            expect(s.begin < s.end && s.begin >= last.end, "stretches out of order");
            expect(s.begin != last.end || s.tiers != last.tiers || i == 0, "stretches that are one");
            last = s;
        }
        if (stretches != 0) {
            expect(last.end == end, "stretches that end elsewhere than they should");
            expect(stretches != 1 || last.begin != 0 || last.tiers != mask_of(tier::gpu),
                   "a stretch where a number would do");
        }
    }

    void check_spare() {
        const std::uint64_t word = next();
        expect((word & 0xffff) < core_slots, "a further name's slot number is out of range");
        expect((word >> 16 & 0xffff) < m_len, "a further name behind its end");
        expect(word >> 32 != 0 && word >> 32 <= all_tiers, "a further name in no such tiers");
        next(); // any name
    }

    std::span<const std::uint64_t> m_words;
    std::uint64_t m_byte;
    std::uint32_t m_run = 0;
    std::uint32_t m_len = 0;
    std::size_t m_at = 0;
    std::size_t m_end = 0;
    std::bitset<core_slots> m_seen;
};

} // namespace

run_record run_record::checked(std::span<const std::uint64_t> words, std::uint64_t byte) {
    return checker(words, byte).check();
}

std::span<const std::uint64_t> run_record::names_of(std::uint32_t wanted) const {
    for (std::uint32_t p = 0; p < planes(); p++) {
        if (domain(p) == wanted) {
            return names(p);
        }
    }
    return {};
}

} // namespace kvindex::snapshot
