/// The tokenizer's parts, one promise a test. Equality with the reference is the Java differential test's
/// business.
#include "tokens/bpe_tokenizer.hpp"

#include "small_tokenizer.hpp"
#include "tokens/utf16.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace {

using namespace kvindex::tokens;
using kvindex::tests::as_bytes;
using kvindex::tests::literal_merges;
using kvindex::tests::small_tokenizer;

std::string normal(const std::string& text) {
    nfc_normalizer n;
    const bytes out = n.normalize(as_bytes(text));
    return {out.begin(), out.end()};
}

std::vector<std::string> pieces(pattern which, const std::string& text) {
    std::vector<std::string> found;
    with_matcher(which, [&](const auto& matcher) {
        const bytes all = as_bytes(text);
        split(matcher, all.data(), all.data() + all.size(),
              [&](const std::uint8_t* p, const std::uint8_t* end) { found.emplace_back(p, end); });
    });
    return found;
}

using texts = std::vector<std::string>;

TEST(tokens, utf8_is_checked_to_the_letter) {
    for (const char* good : {"", "a", "\xc2\x80", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xef\xbf\xbf",
                             "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"}) {
        EXPECT_TRUE(well_formed(as_bytes(good))) << good;
    }
    for (const char* bad :
         {"\x80", "\xc1\xbf", "\xc2", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xe1\x80", "\xf0\x8f\xbf\xbf",
          "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xf1\x80\x80"}) {
        EXPECT_FALSE(well_formed(as_bytes(bad))) << bad;
        EXPECT_FALSE(well_formed(as_bytes(std::string(40, 'a') + bad))) << bad;
    }
}

TEST(tokens, every_code_point_survives_utf8) {
    std::vector<std::uint8_t> out;
    for (char32_t c = 0; c < 0x110000; c = c == 0xd7ff ? 0xe000 : c + 1) {
        out.clear();
        append_utf8(c, out);
        ASSERT_TRUE(well_formed(out));
        const decoded back = decode(out.data());
        ASSERT_EQ(back.c, c);
        ASSERT_EQ(back.length, out.size());
    }
}

TEST(tokens, utf16_becomes_the_same_utf8_wherever_a_character_lies) {
    std::vector<std::uint8_t> room;
    for (std::size_t before = 0; before < 70; before++) {
        for (char32_t c = 1; c < 0x110000; c = c == 0xd7ff ? 0xe000 : c * 2 + 1) {
            std::vector<std::uint16_t> wide(before, 'a');
            std::vector<std::uint8_t> expected(before, 'a');
            if (c < 0x10000) {
                wide.push_back(static_cast<std::uint16_t>(c));
            } else {
                wide.push_back(static_cast<std::uint16_t>(0xd800 + ((c - 0x10000) >> 10)));
                wide.push_back(static_cast<std::uint16_t>(0xdc00 + ((c - 0x10000) & 0x3ff)));
            }
            wide.insert(wide.end(), 40, 'b');
            append_utf8(c, expected);
            expected.insert(expected.end(), 40, 'b');
            const auto made = to_utf8(wide, room);
            ASSERT_TRUE(made);
            ASSERT_TRUE(std::equal(made->begin(), made->end(), expected.begin(), expected.end())) << before;
        }
    }
    const std::vector<std::uint16_t> alone[] = {{0xd800}, {0xdc00}, {'a', 0xd83d, 'b'}, {0xde42, 0xd83d}};
    for (const auto& text : alone) {
        EXPECT_FALSE(to_utf8(text, room));
    }
}

TEST(tokens, normal_form_c_composes_orders_and_leaves_alone) {
    EXPECT_EQ(normal("plain text"), "plain text");
    EXPECT_EQ(normal("e\u0301x"), "\u00e9x");
    EXPECT_EQ(normal("a\u0301\u0323"), "\u1ea1\u0301");
    EXPECT_EQ(normal("\u1100\u1161\u11a8"), "\uac01");
    EXPECT_EQ(normal("\u0958"), "\u0915\u093c");
    EXPECT_EQ(normal("\u212b"), "\u00c5");
    EXPECT_EQ(normal("\u0301e"), "\u0301e");
    const std::string marks = "x" + std::string("\u0301") + std::string("\u0323");
    EXPECT_EQ(normal(marks), "x\u0323\u0301");
}

TEST(tokens, patterns_cut_as_their_expressions_do) {
    EXPECT_EQ(pieces(pattern::gpt2, "I'll 12345  go\n\n x"),
              (texts{"I", "'ll", " 12345", " ", " go", "\n\n", " x"}));
    EXPECT_EQ(pieces(pattern::llama3, "I'LL 12345  go!!\n\n x"),
              (texts{"I", "'LL", " ", "123", "45", " ", " go", "!!\n\n", " x"}));
    EXPECT_EQ(pieces(pattern::qwen2, "a 12\t\tb"), (texts{"a", " ", "1", "2", "\t", "\tb"}));
    EXPECT_EQ(pieces(pattern::o200k, "camelCaseHTML's/x\u65e5AB"),
              (texts{"camel", "Case", "HTML's", "/x\u65e5", "AB"}));
    EXPECT_EQ(pieces(pattern::tekken, "HTML's 12"), (texts{"HTML", "'s", " ", "1", "2"}));
    EXPECT_EQ(pieces(pattern::deepseek, "a.b \x01\x02!?\n z"),
              (texts{"a", ".b", " ", "\x01\x02", "!?\n", " z"}));
    EXPECT_EQ(pieces(pattern::cjk, "ab\u65e5\u3042c\u4e01"), (texts{"ab", "\u65e5\u3042", "c", "\u4e01"}));
}

TEST(tokens, short_and_long_pieces_merge_as_the_literal_rule_says) {
    small_tokenizer t;
    std::uint64_t random = 7;
    for (int round = 0; round < 400; round++) {
        std::vector<std::uint32_t> ids;
        for (std::size_t i = 0; i < 1 + static_cast<std::size_t>(round) % 150; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            ids.push_back('a' + static_cast<std::uint32_t>(random >> 33) % (round % 3 == 0 ? 2 : 4));
        }
        const auto expected = literal_merges(t.merges, ids);
        merger merging;
        ids.resize(merging.run(t.table, ids));
        ASSERT_EQ(ids, expected) << round;
    }
}

TEST(tokens, the_leftmost_and_longest_added_token_wins) {
    small_tokenizer t;
    EXPECT_EQ(t.text_of(t.encode("x<a>y<a><b>z", true)), "x|<a>|y|<a><b>|z");
    EXPECT_EQ(t.text_of(t.encode("x<s>", true)), "x|<s>");
    EXPECT_EQ(t.text_of(t.encode("x<s>", false)), "x|<|s|>");
    EXPECT_EQ(t.text_of(t.encode("x \n<strip> \t y", true)), "x|<strip>|y");
}

TEST(tokens, what_surrounds_a_raw_prompt_is_added_when_asked_for) {
    small_tokenizer t;
    EXPECT_EQ(t.text_of(t.encode("x", true, true)), "<s>|x|<a>");
}

TEST(tokens, ids_become_the_bytes_again) {
    small_tokenizer t;
    const std::string text = "aab \xe6\x97\xa5 <a>x";
    const auto ids = t.encode(text, true);
    std::string back(100, '\0');
    const std::span<std::uint8_t> room{reinterpret_cast<std::uint8_t*>(back.data()), back.size()};
    const auto length = t.tokenizer->decode(ids, false, room);
    ASSERT_TRUE(length);
    EXPECT_EQ(back.substr(0, *length), text);
    EXPECT_FALSE(t.tokenizer->decode(ids, false, room.first(3)));
    EXPECT_EQ(t.tokenizer->decode(t.encode("<s>", true), true, room), std::size_t{0});
}

TEST(tokens, too_little_room_is_told_and_nothing_is_written_behind_it) {
    small_tokenizer t;
    std::vector<std::uint32_t> ids(4, 0xdeadbeef);
    std::size_t count = 77;
    EXPECT_EQ(t.tokenizer->encode(as_bytes("xyzxyz"), {}, {ids.data(), 3}, count),
              bpe_tokenizer::outcome::no_room);
    EXPECT_EQ(ids[3], 0xdeadbeef);
    EXPECT_EQ(count, 77u);
    EXPECT_EQ(t.tokenizer->encode(as_bytes("\xff"), {}, ids, count), bpe_tokenizer::outcome::not_text);
}

TEST(tokens, parts_that_do_not_fit_make_no_tokenizer) {
    for (const char* what : {"a byte is missing", "a pair twice", "an id twice", "an unknown id in a merge",
                             "an added token twice"}) {
        EXPECT_EQ(small_tokenizer::broken(what), nullptr) << what;
    }
}

TEST(tokens, threads_share_a_tokenizer) {
    const small_tokenizer t;
    const std::string text = "abab aabb cdcd <a> xyz";
    const auto expected = t.encode(text, true);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++) {
        threads.emplace_back([&] {
            for (int n = 0; n < 300; n++) {
                ASSERT_EQ(t.encode(text, true), expected);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

} // namespace
