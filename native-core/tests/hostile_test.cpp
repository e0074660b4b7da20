/// Wrong arguments and wrong bytes: every one is refused or skipped, and nothing else changes.
#include "kvindex.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <vector>

namespace {

/// An open index with one slot.
class hostile : public testing::Test {
protected:
    void SetUp() override {
        kvi_config config{};
        config.size = sizeof config;
        config.orphan_limit = 16;
        config.max_blocks = 1u << 18;
        config.ghost_percent = 101;
        ASSERT_EQ(kvi_open(&config, &index), KVI_OK);
        ASSERT_EQ(kvi_slot_open(index, 1, 0, &slot), KVI_OK);
    }

    void TearDown() override {
        EXPECT_EQ(kvi_close(index), KVI_OK);
    }

    kvi_event head(std::uint8_t kind, std::uint32_t n) const {
        kvi_event e{};
        e.size = sizeof e;
        e.kind = kind;
        e.slot = slot;
        e.n = n;
        return e;
    }

    /// Head and words; `size` is set to the whole record unless it was changed before.
    static std::vector<std::uint64_t> record(kvi_event e, const std::vector<std::uint64_t>& words) {
        if (e.size == sizeof e) {
            e.size = static_cast<std::uint32_t>(sizeof e + words.size() * 8);
        }
        std::vector<std::uint64_t> out(5);
        std::memcpy(out.data(), &e, sizeof e);
        out.insert(out.end(), words.begin(), words.end());
        return out;
    }

    std::vector<std::uint64_t> stored(std::uint64_t name, std::uint64_t local) const {
        return record(head(KVI_STORED_LOCALS, 1), {name, local});
    }

    kvi_applied apply(const std::vector<std::uint64_t>& buffer) {
        return apply(buffer, buffer.size() * 8);
    }

    kvi_applied apply(const std::vector<std::uint64_t>& buffer, std::uint64_t length) {
        // On the heap with exactly this length, for the address sanitizer.
        const std::unique_ptr<std::byte[]> exact(new std::byte[length]);
        std::memcpy(exact.get(), buffer.data(), length);
        kvi_applied out{};
        EXPECT_EQ(kvi_apply(index, exact.get(), length, &out), KVI_OK);
        return out;
    }

    std::uint64_t blocks() const {
        kvi_statistics s{};
        EXPECT_EQ(kvi_stats(index, &s), KVI_OK);
        return s.blocks;
    }

    /// The record is skipped and counted; those around it are applied.
    void expect_skipped(const std::vector<std::uint64_t>& bad, const char* what) {
        SCOPED_TRACE(what);
        std::vector<std::uint64_t> buffer = stored(next, next);
        buffer.insert(buffer.end(), bad.begin(), bad.end());
        const auto after = stored(next + 1, next + 1);
        buffer.insert(buffer.end(), after.begin(), after.end());
        next += 2;
        const std::uint64_t before = blocks();
        const kvi_applied out = apply(buffer);
        EXPECT_EQ(out.malformed, 1u);
        EXPECT_EQ(out.applied, 2u);
        EXPECT_EQ(blocks(), before + 2);
    }

    kvi_index* index = nullptr;
    std::uint32_t slot = 0;
    std::uint64_t next = 1000;
};

TEST_F(hostile, a_null_argument_is_refused) {
    std::uint32_t number = 0;
    std::uint32_t rows[64];
    std::uint64_t word = 0;
    kvi_applied applied{};
    kvi_hit hit{};
    EXPECT_EQ(kvi_abi_version(nullptr), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_open(nullptr, nullptr), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_slot_open(nullptr, 1, 1, &number), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_slot_open(index, 1, 1, nullptr), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_slot_close(nullptr, 0), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_apply(nullptr, &word, 8, &applied), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_apply(index, nullptr, 8, &applied), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_apply(index, &word, 8, nullptr), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_seed(nullptr, 4, nullptr, 4, nullptr), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_hash(nullptr, 4, 4, 0, &word, &word, 1, &number), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_hash(&number, 1, 1, 0, &word, &word, 1, nullptr), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_match_tokens(nullptr, 0, &number, 1, 1, 0, nullptr, 0, &hit, 1, &number), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_match_tokens(index, 0, nullptr, 1, 1, 0, nullptr, 0, &hit, 1, &number), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_match_tokens(index, 0, &number, 1, 1, 0, nullptr, 0, nullptr, 1, &number), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_match_tokens(index, 0, &number, 1, 1, 0, nullptr, 0, &hit, 1, nullptr), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_match_locals(nullptr, 0, &word, 1, &hit, 1, &number), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_match_locals(index, 0, nullptr, 1, &hit, 1, &number), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_match_locals(index, 0, &word, 1, nullptr, 1, &number), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_match_locals(index, 0, &word, 1, &hit, 1, nullptr), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_match_dense(nullptr, 0, &word, 1, 1, rows, 64), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_match_dense(index, 0, nullptr, 1, 1, rows, 64), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_match_dense(index, 0, &word, 1, 1, nullptr, 64), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_slot_bound(nullptr, &number), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_slot_bound(index, nullptr), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_stats(nullptr, nullptr), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_stats(index, nullptr), KVI_E_ARGUMENT);
}

TEST_F(hostile, nothing_of_length_zero_needs_a_buffer) {
    std::uint32_t number = 9;
    std::uint64_t seed = 0;
    kvi_applied applied{};
    EXPECT_EQ(kvi_apply(index, nullptr, 0, &applied), KVI_OK);
    EXPECT_EQ(kvi_match_locals(index, 0, nullptr, 0, nullptr, 0, &number), KVI_OK);
    EXPECT_EQ(number, 0u);
    EXPECT_EQ(kvi_match_tokens(index, 0, nullptr, 0, 16, 0, nullptr, 0, nullptr, 0, &number), KVI_OK);
    EXPECT_EQ(kvi_hash(nullptr, 0, 16, 0, nullptr, nullptr, 0, &number), KVI_OK);
    EXPECT_EQ(kvi_seed(nullptr, 7, nullptr, 0, &seed), KVI_OK);
    EXPECT_EQ(seed, 1337u);
}

TEST_F(hostile, a_misaligned_pointer_is_refused) {
    alignas(8) std::array<std::uint64_t, 32> words{};
    auto* bytes = reinterpret_cast<unsigned char*>(words.data());
    kvi_applied applied{};
    kvi_hit hit{};
    std::uint32_t number = 0;
    EXPECT_EQ(kvi_apply(index, bytes + 4, 40, &applied), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_match_locals(index, 0, reinterpret_cast<std::uint64_t*>(bytes + 4), 1, &hit, 1, &number),
              KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_match_tokens(index, 0, reinterpret_cast<std::uint32_t*>(bytes + 2), 1, 1, 0, nullptr, 0, &hit,
                               1, &number),
              KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_hash(reinterpret_cast<std::uint32_t*>(bytes), 1, 1, 0,
                       reinterpret_cast<std::uint64_t*>(bytes + 4), nullptr, 1, &number),
              KVI_E_ARGUMENT);
}

TEST_F(hostile, sizes_out_of_range_are_refused_before_anything_is_read) {
    std::uint32_t number = 0;
    std::uint64_t word = 0;
    kvi_hit hit{};
    EXPECT_EQ(kvi_hash(&number, 1, 0, 0, &word, &word, 1, &number), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_hash(&number, 1, KVI_MAX_BLOCK_SIZE + 1, 0, &word, &word, 1, &number), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_match_tokens(index, 0, &number, 1, 0, 0, nullptr, 0, &hit, 1, &number), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_match_tokens(index, 0, &number, 0xffffffffu, 1, 0, nullptr, 0, &hit, 1, &number),
              KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_match_locals(index, 0, &word, KVI_MAX_BLOCKS + 1, &hit, 1, &number), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_match_locals(index, KVI_MAX_NAME_SPACES, &word, 1, &hit, 1, &number), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_match_tokens(index, KVI_MAX_NAME_SPACES, &number, 1, 1, 0, nullptr, 0, &hit, 1, &number),
              KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_slot_open(index, KVI_MAX_DOMAINS, 0, &number), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_slot_open(index, 0, KVI_MAX_NAME_SPACES, &number), KVI_E_ARGUMENT);
}

TEST_F(hostile, a_config_is_taken_whole_or_not_at_all) {
    const auto opens = [](std::uint32_t size, std::uint32_t ghosts, std::uint64_t blocks) {
        kvi_config c{};
        c.size = size;
        c.ghost_percent = ghosts;
        c.max_blocks = blocks;
        kvi_index* made = nullptr;
        const std::int32_t status = kvi_open(&c, &made);
        EXPECT_EQ(status == KVI_OK, made != nullptr);
        EXPECT_EQ(kvi_close(made), KVI_OK);
        return status;
    };
    EXPECT_EQ(opens(sizeof(kvi_config), 0, 0), KVI_OK);
    EXPECT_EQ(opens(sizeof(kvi_config), 101, 1), KVI_OK);
    EXPECT_EQ(opens(0, 0, 0), KVI_E_ARGUMENT);
    EXPECT_EQ(opens(sizeof(kvi_config) - 8, 0, 0), KVI_E_ARGUMENT);
    EXPECT_EQ(opens(sizeof(kvi_config) + 8, 0, 0), KVI_E_ARGUMENT);
    EXPECT_EQ(opens(sizeof(kvi_config), 102, 0), KVI_E_ARGUMENT);
    EXPECT_EQ(opens(sizeof(kvi_config), 0xffffffffu, 0), KVI_E_ARGUMENT);
    EXPECT_EQ(opens(sizeof(kvi_config), 0, (std::uint64_t{1} << 31) + 1), KVI_E_ARGUMENT);
    EXPECT_EQ(opens(sizeof(kvi_config), 0, ~std::uint64_t{0}), KVI_E_ARGUMENT);
}

TEST_F(hostile, rows_have_a_whole_stride_and_every_slot_fits) {
    constexpr std::uint32_t untouched = 0x5a5a5a5au;
    apply(stored(1, 11));
    const std::uint64_t local = 11;
    std::vector<std::uint32_t> rows(256, untouched);
    for (const std::uint32_t stride : {1u, 63u, 65u, 0xffffffffu}) {
        EXPECT_EQ(kvi_match_dense(index, 0, &local, 1, 1, rows.data(), stride), KVI_E_ARGUMENT);
    }
    for (const std::uint32_t tiers : {0u, 2u, 3u, 5u, 0xffffffffu}) {
        EXPECT_EQ(kvi_match_dense(index, 0, &local, 1, tiers, rows.data(), 64), KVI_E_ARGUMENT);
    }
    EXPECT_EQ(kvi_match_dense(index, KVI_MAX_NAME_SPACES, &local, 1, 1, rows.data(), 64), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_match_dense(index, 0, &local, KVI_MAX_BLOCKS + 1, 1, rows.data(), 64), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_match_dense(index, 0, &local, 1, 1, rows.data(), 0), KVI_E_CAPACITY);
    EXPECT_EQ(rows, std::vector<std::uint32_t>(256, untouched));
    EXPECT_EQ(kvi_match_dense(index, 0, &local, 1, 4, rows.data(), 64), KVI_OK);
    for (std::uint32_t i = 0; i < 256; i++) {
        EXPECT_EQ(rows[i], i % 64 == 0 ? 1u : 0u);
    }
    std::uint32_t second = 0;
    for (std::uint32_t i = 1; i <= 64; i++) {
        ASSERT_EQ(kvi_slot_open(index, 0, 0, &second), KVI_OK);
    }
    EXPECT_EQ(kvi_match_dense(index, 0, &local, 1, 1, rows.data(), 64), KVI_E_CAPACITY);
    EXPECT_EQ(kvi_match_dense(index, 0, &local, 1, 1, rows.data(), 128), KVI_OK);
}

TEST_F(hostile, a_cleared_record_names_a_tier_or_all) {
    kvi_event e = head(KVI_STORED_LOCALS, 1);
    for (const std::uint8_t tier : {std::uint8_t{0}, std::uint8_t{3}}) {
        e.tier = tier;
        apply(record(e, {1, 11}));
    }
    e = head(KVI_CLEARED, 0);
    for (const std::uint8_t tier : {std::uint8_t{4}, std::uint8_t{254}}) {
        e.tier = tier;
        expect_skipped(record(e, {}), "cleared of a tier that there is not");
    }
    const std::uint64_t local = 11;
    kvi_hit hit{};
    std::uint32_t number = 0;
    e.tier = 3;
    EXPECT_EQ(apply(record(e, {})).applied, 1u);
    EXPECT_EQ(kvi_match_locals(index, 0, &local, 1, &hit, 1, &number), KVI_OK);
    EXPECT_EQ(number, 1u);
    EXPECT_EQ(hit.depth[0], 1u);
    e.tier = KVI_ALL_TIERS;
    EXPECT_EQ(apply(record(e, {})).applied, 1u);
    EXPECT_EQ(blocks(), 0u);
}

TEST_F(hostile, a_buffer_too_small_is_said_and_left_alone) {
    apply(stored(1, 11));
    std::uint32_t second = 0;
    ASSERT_EQ(kvi_slot_open(index, 2, 0, &second), KVI_OK);
    kvi_event e = head(KVI_STORED_LOCALS, 1);
    e.slot = second;
    apply(record(e, {1, 11}));

    const std::uint64_t local = 11;
    std::array<kvi_hit, 2> hits;
    std::memset(hits.data(), 0x5a, sizeof hits);
    std::uint32_t number = 77;
    EXPECT_EQ(kvi_match_locals(index, 0, &local, 1, hits.data(), 1, &number), KVI_E_CAPACITY);
    EXPECT_EQ(kvi_match_locals(index, 0, &local, 1, nullptr, 0, &number), KVI_E_CAPACITY);
    EXPECT_EQ(number, 77u);
    EXPECT_EQ(hits[0].slot, 0x5a5a5a5au);
    EXPECT_EQ(kvi_match_locals(index, 0, &local, 1, hits.data(), 2, &number), KVI_OK);
    EXPECT_EQ(number, 2u);

    const std::array<std::uint32_t, 8> tokens{};
    std::array<std::uint64_t, 2> words{5, 5};
    EXPECT_EQ(kvi_hash(tokens.data(), 8, 2, 0, words.data(), nullptr, 2, &number), KVI_E_CAPACITY);
    EXPECT_EQ(kvi_match_tokens(index, 0, tokens.data(), 8, 2, 0, words.data(), 2, hits.data(), 2, &number),
              KVI_E_CAPACITY);
    EXPECT_EQ(words[0], 5u);
    EXPECT_EQ(kvi_hash(tokens.data(), 8, 2, 0, nullptr, nullptr, 0, &number), KVI_OK);
    EXPECT_EQ(number, 4u);
}

TEST_F(hostile, page_digests_refuse_what_is_not_a_prompt_or_a_seed) {
    const std::array<std::uint32_t, 8> tokens{};
    const std::array<std::uint8_t, KVI_PAGE_DIGEST> seed{};
    std::array<std::uint8_t, 2 * KVI_PAGE_DIGEST> digests{};
    std::uint32_t number = 77;
    const auto ask = [&](const std::uint32_t* ids, std::uint32_t page_size, std::uint32_t flags,
                         const std::uint8_t* from, std::uint32_t seed_length, std::uint8_t* out,
                         std::uint32_t capacity, std::uint32_t* pages) {
        return kvi_page_digests(ids, 8, page_size, flags, from, seed_length, out, capacity, pages);
    };
    std::uint8_t* out = digests.data();
    EXPECT_EQ(ask(nullptr, 4, 0, nullptr, 0, out, 2, &number), KVI_E_ARGUMENT);
    EXPECT_EQ(ask(tokens.data(), 0, 0, nullptr, 0, out, 2, &number), KVI_E_ARGUMENT);
    EXPECT_EQ(ask(tokens.data(), KVI_MAX_BLOCK_SIZE + 1, 0, nullptr, 0, out, 2, &number), KVI_E_ARGUMENT);
    EXPECT_EQ(ask(tokens.data(), 4, 2, nullptr, 0, out, 2, &number), KVI_E_ARGUMENT);
    EXPECT_EQ(ask(tokens.data(), 4, 0, seed.data(), 31, out, 2, &number), KVI_E_ARGUMENT);
    EXPECT_EQ(ask(tokens.data(), 4, 0, nullptr, 32, out, 2, &number), KVI_E_ARGUMENT);
    EXPECT_EQ(ask(tokens.data(), 4, 0, nullptr, 0, nullptr, 2, &number), KVI_E_ARGUMENT);
    EXPECT_EQ(ask(tokens.data(), 4, 0, nullptr, 0, out, 2, nullptr), KVI_E_ARGUMENT);
    EXPECT_EQ(ask(tokens.data(), 4, 0, nullptr, 0, out, 1, &number), KVI_E_CAPACITY);
    EXPECT_EQ(kvi_page_digests(
                  reinterpret_cast<const std::uint32_t*>(reinterpret_cast<const char*>(tokens.data()) + 2), 1,
                  1, 0, nullptr, 0, out, 2, &number),
              KVI_E_ARGUMENT);
    EXPECT_EQ(number, 77u);
    EXPECT_EQ(digests, (std::array<std::uint8_t, 2 * KVI_PAGE_DIGEST>{}));
    EXPECT_EQ(ask(tokens.data(), 4, KVI_BIGRAMS, seed.data(), 32, out, 1, &number), KVI_OK);
    EXPECT_EQ(number, 1u) << "seven bigrams are one page of four";
    EXPECT_EQ(kvi_page_digests(nullptr, 0, 4, KVI_BIGRAMS, nullptr, 0, nullptr, 0, &number), KVI_OK);
    EXPECT_EQ(number, 0u);
}

TEST_F(hostile, a_sequence_is_written_only_with_the_hits) {
    const std::array<std::uint32_t, 2> tokens{7, 8};
    std::array<std::uint64_t, 2> locals{};
    std::uint32_t number = 0;
    ASSERT_EQ(kvi_hash(tokens.data(), 2, 1, 1337, locals.data(), nullptr, 2, &number), KVI_OK);
    apply(stored(1, locals[0]));
    std::array<std::uint64_t, 2> sequence{5, 5};
    EXPECT_EQ(kvi_match_tokens(index, 0, tokens.data(), 2, 1, 1337, sequence.data(), 2, nullptr, 0, &number),
              KVI_E_CAPACITY);
    EXPECT_EQ(sequence[0], 5u);
}

TEST_F(hostile, a_bad_record_is_skipped_and_its_neighbours_are_applied) {
    expect_skipped(record(head(0, 1), {1}), "kind 0");
    expect_skipped(record(head(5, 1), {1}), "kind 5");
    expect_skipped(record(head(255, 1), {1}), "kind 255");
    expect_skipped(record(head(KVI_REMOVED, 0), {}), "no blocks");
    expect_skipped(record(head(KVI_REMOVED, 2), {1}), "one word short");
    expect_skipped(record(head(KVI_REMOVED, 1), {1, 2}), "one word long");
    expect_skipped(record(head(KVI_REMOVED, 0xffffffffu), {1}), "n at its greatest");
    expect_skipped(record(head(KVI_STORED_LOCALS, KVI_MAX_BLOCKS + 1), {1, 1}), "too many blocks");
    expect_skipped(record(head(KVI_STORED_LOCALS, 0x80000001u), {1, 1}), "n * 8 past 32 bits");
    expect_skipped(record(head(KVI_CLEARED, 1), {1}), "cleared with a block");
    kvi_event e = head(KVI_REMOVED, 1);
    e.tier = KVI_TIERS;
    expect_skipped(record(e, {1}), "tier 4");
    e = head(KVI_REMOVED, 1);
    e.flags = 2;
    expect_skipped(record(e, {1}), "unknown flag");
    e = head(KVI_REMOVED, 1);
    e.reserved = 1;
    expect_skipped(record(e, {1}), "reserved");
    e = head(KVI_REMOVED, 1);
    e.block_size = 16;
    expect_skipped(record(e, {1}), "block size without tokens");
    e = head(KVI_STORED_TOKENS, 1);
    expect_skipped(record(e, {1, 1}), "block size 0");
    e.block_size = KVI_MAX_BLOCK_SIZE + 1;
    expect_skipped(record(e, {1, 1}), "block size too great");
    e.block_size = 4;
    expect_skipped(record(e, {1, 1}), "tokens short");
    e.n = KVI_MAX_BLOCKS;
    e.block_size = KVI_MAX_BLOCK_SIZE;
    expect_skipped(record(e, {1, 1}), "n * block size past 32 bits");
}

TEST_F(hostile, an_odd_number_of_tokens_is_padded) {
    kvi_event e = head(KVI_STORED_TOKENS, 1);
    e.block_size = 3;
    EXPECT_EQ(apply(record(e, {1, 2, 3})).applied, 1u);
    EXPECT_EQ(apply(record(e, {1, 2})).malformed, 1u);
}

TEST_F(hostile, a_wrong_size_ends_the_buffer) {
    for (const std::uint32_t size : {0u, 8u, 39u, 41u, 44u, 64u, 0x7ffffff8u, 0xfffffff8u, 0xffffffffu}) {
        SCOPED_TRACE(size);
        std::vector<std::uint64_t> buffer = stored(next, next);
        next++;
        kvi_event e = head(KVI_REMOVED, 1);
        e.size = size;
        const auto bad = record(e, {1});
        buffer.insert(buffer.end(), bad.begin(), bad.end());
        const kvi_applied out = apply(buffer);
        EXPECT_EQ(out.applied, 1u);
        EXPECT_EQ(out.malformed, 1u);
    }
}

TEST_F(hostile, a_buffer_may_end_anywhere) {
    std::vector<std::uint64_t> buffer = stored(1, 11);
    const auto second = stored(2, 12);
    buffer.insert(buffer.end(), second.begin(), second.end());
    for (std::uint64_t length = 0; length <= buffer.size() * 8; length++) {
        SCOPED_TRACE(length);
        const kvi_applied out = apply(buffer, length);
        EXPECT_EQ(out.applied, length / 56);
        EXPECT_EQ(out.malformed, length % 56 == 0 ? 0u : 1u);
    }
}

TEST_F(hostile, events_of_slots_that_are_not_open_are_ignored) {
    for (const std::uint32_t wrong : {1u, KVI_MAX_SLOTS - 1, KVI_MAX_SLOTS, 65536u + slot, 0xffffffffu}) {
        kvi_event e = head(KVI_STORED_LOCALS, 1);
        e.slot = wrong;
        EXPECT_EQ(apply(record(e, {1, 11})).ignored, 1u);
        e = head(KVI_CLEARED, 0);
        e.slot = wrong;
        EXPECT_EQ(apply(record(e, {})).ignored, 1u);
        EXPECT_EQ(kvi_slot_close(index, wrong), KVI_E_SLOT);
    }
    EXPECT_EQ(blocks(), 0u);
}

TEST_F(hostile, a_wrong_decision_is_refused_and_changes_nothing) {
    const std::array<std::uint64_t, 2> locals{1, 2};
    std::uint32_t w = 0;
    std::uint64_t out = 77;
    EXPECT_EQ(kvi_slot_open_approximate(nullptr, 0, 0, &w), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_slot_open_approximate(index, 0, 0, nullptr), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_slot_open_approximate(index, KVI_MAX_DOMAINS, 0, &w), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_slot_open_approximate(index, 0, KVI_MAX_NAME_SPACES, &w), KVI_E_ARGUMENT);
    ASSERT_EQ(kvi_slot_open_approximate(index, 1, 0, &w), KVI_OK);
    EXPECT_EQ(kvi_decide(nullptr, w, locals.data(), 2, 0, &out), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_decide(index, w, nullptr, 2, 0, &out), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_decide(index, w, locals.data(), 2, 0, nullptr), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_decide(index, w, locals.data(), KVI_MAX_BLOCKS + 1, 0, &out), KVI_E_ARGUMENT);
    const auto* const odd =
        reinterpret_cast<const std::uint64_t*>(reinterpret_cast<std::uintptr_t>(locals.data()) + 4);
    EXPECT_EQ(kvi_decide(index, w, odd, 1, 0, &out), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_decide(index, slot, locals.data(), 2, 0, &out), KVI_E_SLOT) << "it has events";
    EXPECT_EQ(kvi_decide(index, 0xffffffffu, locals.data(), 2, 0, &out), KVI_E_SLOT);
    EXPECT_EQ(kvi_decide(index, w + KVI_MAX_SLOTS, locals.data(), 2, 0, &out), KVI_E_SLOT) << "a later one";
    EXPECT_EQ(kvi_expire(nullptr, 0, &out), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_expire(index, 0, nullptr), KVI_E_ARGUMENT);
    EXPECT_EQ(out, 77u);
    EXPECT_EQ(blocks(), 0u);
    EXPECT_EQ(kvi_decide(index, w, nullptr, 0, 0, &out), KVI_OK);
    EXPECT_EQ(out, 0u);
    EXPECT_EQ(kvi_decide(index, w, locals.data(), 2, 0, &out), KVI_OK);
    EXPECT_EQ(out, 2u);
    // The default time to live, as the config said 0.
    EXPECT_EQ(kvi_expire(index, 119'999, &out), KVI_OK);
    EXPECT_EQ(out, 0u);
    EXPECT_EQ(kvi_expire(index, 120'000, &out), KVI_OK);
    EXPECT_EQ(out, 1u);
    EXPECT_EQ(blocks(), 0u);
    ASSERT_EQ(kvi_slot_close(index, w), KVI_OK);
    EXPECT_EQ(kvi_decide(index, w, locals.data(), 2, 0, &out), KVI_E_SLOT);
}

TEST_F(hostile, slots_run_out_with_a_word) {
    std::uint32_t number = 0;
    for (std::uint32_t i = 1; i < KVI_MAX_SLOTS; i++) {
        ASSERT_EQ(kvi_slot_open(index, i, 0, &number), KVI_OK);
        ASSERT_EQ(number, i);
    }
    number = 42;
    EXPECT_EQ(kvi_slot_open(index, 1, 0, &number), KVI_E_FULL);
    EXPECT_EQ(number, 42u);
    EXPECT_EQ(kvi_slot_close(index, 17), KVI_OK);
    EXPECT_EQ(kvi_slot_open(index, 1, 0, &number), KVI_OK);
    EXPECT_EQ(number & KVI_SLOT_NUMBER, 17u);
    EXPECT_EQ(number >> 14, 1u) << "another incarnation";
    EXPECT_EQ(kvi_slot_close(index, 17), KVI_E_SLOT);
}

} // namespace
