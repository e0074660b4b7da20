/// The tokenizer's ABI: right calls work, wrong arguments are refused and write nothing.
#include "kvtokens.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace {

/// All bytes, "th" and "the", one added token.
class tokens_abi : public testing::Test {
protected:
    void SetUp() override {
        fill();
    }

    void fill() {
        bytes.clear();
        vocabulary.clear();
        added.clear();
        merges[0] = {'t', 'h', 256};
        merges[1] = {256, 'e', 257};
        steps[0] = KTK_QWEN2;
        steps[1] = 258;
        config = {};
        for (std::uint32_t b = 0; b < 256; b++) {
            bytes.push_back(static_cast<std::uint8_t>(b));
            vocabulary.push_back({b, 1, b, 0, 0});
        }
        const auto put = [&](const char* text) {
            const std::uint64_t at = bytes.size();
            bytes.insert(bytes.end(), text, text + std::strlen(text));
            return at;
        };
        vocabulary.push_back({put("th"), 2, 256, 0, 0});
        vocabulary.push_back({put("the"), 3, 257, 0, 0});
        added.push_back({put("<s>"), 3, 258, KTK_SPECIAL, 0});
        config.size = sizeof config;
        config.bytes = bytes.data();
        config.byte_count = bytes.size();
        config.vocabulary = vocabulary.data();
        config.vocabulary_count = static_cast<std::uint32_t>(vocabulary.size());
        config.added = added.data();
        config.added_count = 1;
        config.merges = merges;
        config.merge_count = 2;
        config.steps = steps;
        config.step_count = 1;
        config.before = steps + 1;
        config.before_count = 1;
    }

    std::int32_t encode(const ktk_tokenizer* t, const char* text, std::uint32_t flags, std::uint64_t capacity) {
        return ktk_encode(t, reinterpret_cast<const std::uint8_t*>(text), std::strlen(text), flags, ids,
                          capacity, &count);
    }

    std::vector<std::uint8_t> bytes;
    std::vector<ktk_token> vocabulary;
    std::vector<ktk_token> added;
    ktk_merge merges[2] = {};
    std::uint32_t steps[2] = {};
    ktk_config config{};
    std::uint32_t ids[16] = {};
    std::uint64_t count = 99;
};

TEST_F(tokens_abi, a_text_becomes_ids_and_these_the_text) {
    ktk_tokenizer* t = nullptr;
    ASSERT_EQ(ktk_open(&config, &t), KVI_OK);
    ASSERT_EQ(encode(t, "the<s>x", KTK_PARSE_SPECIAL | KTK_ADD_SPECIAL, 16), KVI_OK);
    ASSERT_EQ(count, 4u);
    EXPECT_EQ(ids[0], 258u);
    EXPECT_EQ(ids[1], 257u);
    EXPECT_EQ(ids[2], 258u);
    EXPECT_EQ(ids[3], std::uint32_t{'x'});
    std::uint8_t text[16] = {};
    std::uint64_t length = 0;
    ASSERT_EQ(ktk_decode(t, ids, count, KTK_SKIP_SPECIAL, text, 16, &length), KVI_OK);
    EXPECT_EQ(length, 4u);
    EXPECT_EQ(std::memcmp(text, "thex", 4), 0);
    EXPECT_EQ(ktk_close(t), KVI_OK);
}

TEST_F(tokens_abi, wrong_arguments_of_calls_are_refused) {
    ktk_tokenizer* t = nullptr;
    ASSERT_EQ(ktk_open(&config, &t), KVI_OK);
    std::uint64_t length = 7;
    std::uint8_t text[4] = {};
    EXPECT_EQ(encode(nullptr, "a", 0, 16), KVI_E_ARGUMENT);
    EXPECT_EQ(encode(t, "a", 4, 16), KVI_E_ARGUMENT);
    EXPECT_EQ(encode(t, "\xff", 0, 16), KVI_E_ARGUMENT);
    EXPECT_EQ(encode(t, "abc", 0, 2), KVI_E_CAPACITY);
    EXPECT_EQ(ktk_encode(t, nullptr, 1, 0, ids, 16, &count), KVI_E_ARGUMENT);
    EXPECT_EQ(ktk_encode(t, text, std::uint64_t{1} << 40, 0, ids, 16, &count), KVI_E_ARGUMENT);
    EXPECT_EQ(ktk_encode(t, text, 1, 0, nullptr, 16, &count), KVI_E_ARGUMENT);
    EXPECT_EQ(ktk_encode(t, text, 1, 0, ids, 16, nullptr), KVI_E_ARGUMENT);
    EXPECT_EQ(ktk_decode(nullptr, ids, 1, 0, text, 4, &length), KVI_E_ARGUMENT);
    EXPECT_EQ(ktk_decode(t, ids, 1, 2, text, 4, &length), KVI_E_ARGUMENT);
    EXPECT_EQ(ktk_decode(t, ids, 1, 0, text, 4, nullptr), KVI_E_ARGUMENT);
    ids[0] = 257;
    EXPECT_EQ(ktk_decode(t, ids, 1, 0, text, 2, &length), KVI_E_CAPACITY);
    EXPECT_EQ(count, 99u);
    EXPECT_EQ(length, 7u);
    EXPECT_EQ(ktk_encode(t, nullptr, 0, 0, nullptr, 0, &count), KVI_OK);
    EXPECT_EQ(count, 0u);
    EXPECT_EQ(ktk_close(t), KVI_OK);
    EXPECT_EQ(ktk_close(nullptr), KVI_OK);
}

/// A worker holds the first blocks of the prompt.
class text_abi : public tokens_abi {
protected:
    static constexpr std::uint32_t block_size = 4;

    void SetUp() override {
        fill();
        ASSERT_EQ(ktk_open(&config, &tokenizer), KVI_OK);
        ASSERT_EQ(kvi_open(nullptr, &index), KVI_OK);
        ASSERT_EQ(ktk_memory_open(1 << 20, &memory), KVI_OK);
        for (int i = 0; i < 40; i++) {
            text += "<s>the other the";
        }
        expected.resize(text.size());
        std::uint64_t n = 0;
        ASSERT_EQ(
            ktk_encode(tokenizer, data(), text.size(), KTK_PARSE_SPECIAL, expected.data(), expected.size(), &n),
            KVI_OK);
        expected.resize(n);
        query = {sizeof query, KTK_PARSE_SPECIAL, data(), text.size(), 1337, ~std::uint64_t{0}, 0, block_size};
        locals.resize(n);
        ASSERT_EQ(kvi_slot_open(index, 0, 0, &slot), KVI_OK);
        const std::uint32_t held = 5;
        std::vector<std::uint64_t> record((sizeof(kvi_event) + held * 8 + held * block_size * 4) / 8);
        kvi_event event{};
        event.size = static_cast<std::uint32_t>(record.size() * 8);
        event.kind = KVI_STORED_TOKENS;
        event.slot = slot;
        event.n = held;
        event.block_size = block_size;
        event.seed = 1337;
        std::memcpy(record.data(), &event, sizeof event);
        for (std::uint32_t i = 0; i < held; i++) {
            record[sizeof event / 8 + i] = 1000 + i;
        }
        std::memcpy(record.data() + sizeof event / 8 + held, expected.data(), held * block_size * 4);
        kvi_applied applied{};
        ASSERT_EQ(kvi_apply(index, record.data(), record.size() * 8, &applied), KVI_OK);
        ASSERT_EQ(applied.applied, 1u);
    }

    void TearDown() override {
        ktk_memory_close(memory);
        ktk_close(tokenizer);
        kvi_close(index);
    }

    const std::uint8_t* data() const {
        return reinterpret_cast<const std::uint8_t*>(text.data());
    }

    std::int32_t match(ktk_memory* with) {
        return kvi_match_text(index, tokenizer, with, &query, locals.data(),
                              static_cast<std::uint32_t>(locals.size()), hits, 2, &found);
    }

    ktk_tokenizer* tokenizer = nullptr;
    kvi_index* index = nullptr;
    ktk_memory* memory = nullptr;
    std::string text;
    std::vector<std::uint32_t> expected;
    std::uint32_t slot = 0;
    kvi_text_query query{};
    std::vector<std::uint64_t> locals;
    kvi_hit hits[2] = {};
    kvi_text_found found{};
};

TEST_F(text_abi, a_text_is_hashed_and_found_as_its_ids_are) {
    std::vector<std::uint64_t> wanted(expected.size() / block_size);
    std::uint32_t blocks = 0;
    ASSERT_EQ(kvi_hash(expected.data(), static_cast<std::uint32_t>(expected.size()), block_size, 1337,
                       wanted.data(), nullptr, static_cast<std::uint32_t>(wanted.size()), &blocks),
              KVI_OK);
    for (ktk_memory* with : {static_cast<ktk_memory*>(nullptr), memory, memory}) {
        found = {};
        ASSERT_EQ(match(with), KVI_OK);
        EXPECT_EQ(found.tokens, expected.size());
        ASSERT_EQ(found.blocks, blocks);
        EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(), locals.begin()));
        ASSERT_EQ(found.hits, 1u);
        EXPECT_EQ(hits[0].slot, slot & KVI_SLOT_NUMBER);
        EXPECT_EQ(hits[0].depth[KVI_TIER_GPU], 5u);
    }
    EXPECT_GT(found.known_tokens, expected.size() / 2);
    EXPECT_LT(found.new_bytes, text.size() / 2);
    ktk_memory_statistics stats{};
    ASSERT_EQ(ktk_memory_stats(memory, &stats), KVI_OK);
    EXPECT_GT(stats.pieces, 1u);
    EXPECT_EQ(stats.found, stats.pieces);
    EXPECT_GT(stats.bytes, 0u);
}

TEST_F(text_abi, a_text_in_utf16_is_the_same_text) {
    text += "caf\xc3\xa9 \xe6\x97\xa5 \xf0\x9f\x99\x82";
    query.text = data();
    query.length = text.size();
    ASSERT_EQ(match(nullptr), KVI_OK);
    const std::vector<std::uint64_t> wanted = locals;
    const kvi_text_found utf8 = found;
    std::u16string wide(text.begin(), text.end() - 14);
    wide += u"caf\u00e9 \u65e5 \U0001f642";
    query.text = wide.data();
    query.length = wide.size();
    query.flags |= KTK_UTF16;
    for (ktk_memory* with : {static_cast<ktk_memory*>(nullptr), memory, memory}) {
        locals.assign(locals.size(), 0);
        ASSERT_EQ(match(with), KVI_OK);
        EXPECT_EQ(found.tokens, utf8.tokens);
        EXPECT_EQ(found.blocks, utf8.blocks);
        EXPECT_EQ(locals, wanted);
    }
    wide.back() = u'x'; // half a pair is left
    EXPECT_EQ(match(memory), KVI_E_ARGUMENT);
    query.text = reinterpret_cast<const char*>(wide.data()) + 1;
    EXPECT_EQ(match(memory), KVI_E_ARGUMENT);
}

TEST_F(text_abi, too_much_that_is_new_is_told_and_not_done) {
    query.most_new = text.size() - 1;
    ASSERT_EQ(match(memory), KVI_OK);
    EXPECT_EQ(found.too_much, 1u);
    EXPECT_EQ(found.new_bytes, text.size());
    EXPECT_EQ(found.tokens + found.blocks + found.hits, 0u);
    query.most_new++;
    ASSERT_EQ(match(memory), KVI_OK);
    EXPECT_EQ(found.too_much, 0u);
}

TEST_F(text_abi, wrong_arguments_are_refused_and_write_nothing) {
    found.tokens = 99;
    EXPECT_EQ(kvi_match_text(nullptr, tokenizer, memory, &query, nullptr, 0, nullptr, 0, &found),
              KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_match_text(index, nullptr, memory, &query, nullptr, 0, nullptr, 0, &found), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_match_text(index, tokenizer, memory, nullptr, nullptr, 0, nullptr, 0, &found),
              KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_match_text(index, tokenizer, memory, &query, nullptr, 1, nullptr, 0, &found), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_match_text(index, tokenizer, memory, &query, locals.data(), 1, nullptr, 1, &found),
              KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_match_text(index, tokenizer, memory, &query, locals.data(), 1, hits, 1, nullptr),
              KVI_E_ARGUMENT);
    const std::vector<std::function<void()>> mistakes = {
        [&] { query.size--; },
        [&] { query.flags = 8; },
        [&] { query.text = nullptr; },
        [&] { query.length = std::uint64_t{KTK_MAX_TEXT} + 1; },
        [&] { query.name_space = KVI_MAX_NAME_SPACES; },
        [&] { query.block_size = 0; },
        [&] { query.block_size = KVI_MAX_BLOCK_SIZE + 1; },
        [&] { text.back() = '\xff'; },
    };
    const kvi_text_query right = query;
    for (std::size_t i = 0; i < mistakes.size(); i++) {
        query = right;
        mistakes[i]();
        EXPECT_EQ(match(memory), KVI_E_ARGUMENT) << "mistake " << i;
    }
    text.back() = 'e';
    query = right;
    EXPECT_EQ(kvi_match_text(index, tokenizer, memory, &query, locals.data(), 3, hits, 2, &found),
              KVI_E_CAPACITY);
    EXPECT_EQ(kvi_match_text(index, tokenizer, memory, &query, locals.data(),
                             static_cast<std::uint32_t>(locals.size()), nullptr, 0, &found),
              KVI_E_CAPACITY);
    EXPECT_EQ(found.tokens, 99u);
    EXPECT_EQ(ktk_memory_open(1, nullptr), KVI_E_ARGUMENT);
    EXPECT_EQ(ktk_memory_stats(nullptr, nullptr), KVI_E_ARGUMENT);
    EXPECT_EQ(ktk_memory_close(nullptr), KVI_OK);
}

TEST_F(tokens_abi, wrong_configurations_are_refused) {
    const std::vector<std::function<void()>> mistakes = {
        [&] { config.size--; },
        [&] { config.flags = 4; },
        [&] { config.bytes = nullptr; },
        [&] { config.byte_count = 200; },
        [&] { config.vocabulary = nullptr; },
        [&] { config.steps = nullptr; },
        [&] { config.step_count = KTK_MAX_STEPS + 1; },
        [&] { steps[0] = KTK_DEEPSEEK + 1; },
        [&] { config.merges = nullptr; },
        [&] { merges[1].result = 9000; },
        [&] { merges[1] = merges[0]; },
        [&] { vocabulary[3].length = 0; },
        [&] { vocabulary[3].offset = ~std::uint64_t{0}; },
        [&] { vocabulary[3].id = 4; },
        [&] { vocabulary[3].id = KTK_MAX_ID + 1; },
        [&] { vocabulary[3].reserved = 1; },
        [&] { vocabulary[3].flags = KTK_SPECIAL; },
        [&] { added[0].flags = 16; },
    };
    for (std::size_t i = 0; i < mistakes.size(); i++) {
        fill();
        mistakes[i]();
        ktk_tokenizer* t = nullptr;
        EXPECT_EQ(ktk_open(&config, &t), KVI_E_ARGUMENT) << "mistake " << i;
        EXPECT_EQ(t, nullptr);
    }
    EXPECT_EQ(ktk_open(nullptr, nullptr), KVI_E_ARGUMENT);
}

} // namespace
