/// The tokenizer's ABI: right calls work, wrong arguments are refused and write nothing.
#include "kvtokens.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
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
