/// Hashes from remembered beginnings are those of the whole text, whatever was remembered before.
#include "tokens/prompt_memory.hpp"

#include "base/hashing.hpp"
#include "small_tokenizer.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

namespace {

using namespace kvindex::tokens;
using kvindex::local_hash;
using kvindex::tests::as_bytes;
using kvindex::tests::small_tokenizer;

struct hashes {
    std::vector<local_hash> locals;
    hashed_text result;
};

hashes hashed(const small_tokenizer& t, const std::string& text, hash_request asked, prompt_memory* memory) {
    hashes h;
    EXPECT_EQ(t.tokenizer->hash(as_bytes(text), asked, memory, h.locals, h.result),
              bpe_tokenizer::outcome::done);
    return h;
}

std::vector<local_hash> from_ids(const small_tokenizer& t, const std::string& text, const hash_request& asked) {
    const auto ids = t.encode(text, asked.flags.parse_special, asked.flags.add_special);
    std::vector<local_hash> locals(ids.size() / asked.block_size);
    kvindex::hash_blocks(ids.data(), asked.block_size, asked.seed, locals);
    return locals;
}

/// Added tokens, white space, letters that merge, characters that are not in normal form.
std::string random_text(std::mt19937_64& random, std::size_t pieces) {
    const char* some[] = {"<a>",
                          "<s>",
                          "<a><b>",
                          "<strip>",
                          "<",
                          "a",
                          "b",
                          "aab",
                          "cdcd",
                          " ",
                          "  \n",
                          "<a",
                          "e\u0301",
                          "\u65e5",
                          "x y",
                          "1",
                          "the words between",
                          "\u0301"};
    std::string text;
    for (std::size_t i = 0; i < pieces; i++) {
        text += some[random() % std::size(some)];
    }
    return text;
}

std::string turn(std::mt19937_64& random) {
    return "<a>user " + random_text(random, 60 + random() % 60) + "<s>";
}

TEST(prompt_memory, hashes_are_those_of_the_ids_whatever_was_asked_before) {
    const auto seed = std::random_device{}();
    std::mt19937_64 random(seed);
    for (int kind = 0; kind < 4; kind++) {
        const small_tokenizer t(kind % 2 == 0 ? pattern::qwen2 : pattern::o200k, kind >= 2, kind == 3);
        prompt_memory memory(1 << 20);
        std::vector<std::string> asked_before{""};
        std::uint64_t known = 0;
        for (int round = 0; round < 400; round++) {
            // A text that was there before, cut somewhere and gone on with.
            const std::string& old = asked_before[random() % asked_before.size()];
            std::size_t cut = random() % (old.size() + 1);
            while (cut < old.size() && (old[cut] & '\xc0') == '\x80') {
                cut++;
            }
            std::string text = old.substr(0, cut) + random_text(random, random() % 200);
            hash_request asked;
            asked.flags = {random() % 4 == 0, random() % 8 != 0};
            asked.block_size = random() % 4 == 0 ? 1 + static_cast<std::uint32_t>(random() % 70) : 16;
            asked.seed = random() % 4 == 0 ? 7 : 1337;
            const hashes h = hashed(t, text, asked, &memory);
            ASSERT_EQ(h.locals, from_ids(t, text, asked)) << "seed " << seed << ", " << text;
            ASSERT_EQ(h.result.tokens,
                      t.encode(text, asked.flags.parse_special, asked.flags.add_special).size());
            ASSERT_EQ(h.locals, hashed(t, text, asked, nullptr).locals);
            known += h.result.known_tokens;
            asked_before.push_back(std::move(text));
        }
        // What takes white space behind it never uses the memory.
        EXPECT_EQ(known == 0, kind == 3);
        EXPECT_EQ(memory.stats().pieces == 0, kind == 3);
    }
}

TEST(prompt_memory, a_growing_conversation_costs_its_new_turns) {
    std::mt19937_64 random(5);
    const small_tokenizer t(pattern::qwen2, false, false);
    prompt_memory memory(1 << 20);
    std::string text;
    for (int i = 0; i < 20; i++) {
        const std::string fresh = turn(random);
        text += fresh;
        const hashes h = hashed(t, text, {}, &memory);
        // No more than the turn and what was too short to be a piece.
        EXPECT_LE(h.result.new_bytes, fresh.size() + 2 * prompt_memory::least_piece);
        EXPECT_EQ(h.locals, from_ids(t, text, {}));
    }
    const hashes again = hashed(t, text, {.most_new = prompt_memory::least_piece}, &memory);
    EXPECT_FALSE(again.result.too_much);
    const hashes other = hashed(t, "x" + text, {.most_new = prompt_memory::least_piece}, &memory);
    EXPECT_TRUE(other.result.too_much);
    EXPECT_EQ(other.result.new_bytes, text.size() + 1);
}

TEST(prompt_memory, another_tokenizer_seed_or_block_size_is_another_prompt) {
    std::mt19937_64 random(6);
    const small_tokenizer t(pattern::qwen2, false, false);
    const small_tokenizer same(pattern::qwen2, false, false);
    prompt_memory memory(1 << 20);
    const std::string text = turn(random) + turn(random);
    hashed(t, text, {}, &memory);
    EXPECT_NE(hashed(t, text, {}, &memory).result.known_tokens, 0u);
    EXPECT_EQ(hashed(same, text, {}, &memory).result.known_tokens, 0u);
    EXPECT_EQ(hashed(t, text, {.seed = 1}, &memory).result.known_tokens, 0u);
    EXPECT_EQ(hashed(t, text, {.block_size = 32}, &memory).result.known_tokens, 0u);
    EXPECT_EQ(hashed(t, text, {.flags = {true, true}}, &memory).result.known_tokens, 0u);
}

TEST(prompt_memory, a_text_that_is_not_utf8_is_refused_behind_a_known_beginning) {
    std::mt19937_64 random(8);
    const small_tokenizer t(pattern::qwen2, false, false);
    prompt_memory memory(1 << 20);
    const std::string text = turn(random);
    hashed(t, text, {}, &memory);
    std::vector<local_hash> locals;
    hashed_text result;
    const std::string wrong = text + "abc\xff";
    EXPECT_EQ(t.tokenizer->hash(as_bytes(wrong), {}, &memory, locals, result),
              bpe_tokenizer::outcome::not_text);
}

TEST(prompt_memory, the_bound_in_bytes_holds_and_what_is_used_stays) {
    std::mt19937_64 random(9);
    const small_tokenizer t(pattern::qwen2, false, false);
    constexpr std::uint64_t most = 1 << 18;
    prompt_memory memory(most);
    const std::string kept = turn(random) + turn(random);
    hashed(t, kept, {}, &memory);
    for (int i = 0; i < 2000; i++) {
        hashed(t, std::to_string(i) + turn(random), {}, &memory);
        if (i % 8 == 0) {
            ASSERT_NE(hashed(t, kept, {}, &memory).result.known_tokens, 0u) << i;
        }
        ASSERT_LE(memory.stats().bytes, most);
    }
    EXPECT_GT(memory.stats().evicted, 0u);
    EXPECT_GT(memory.stats().pieces, 100u);
    prompt_memory none(0);
    hashed(t, kept, {}, &none);
    EXPECT_EQ(none.stats().pieces, 0u);
}

TEST(prompt_memory, threads_share_it) {
    const small_tokenizer t(pattern::qwen2, false, false);
    prompt_memory memory(1 << 16); // small: pieces come and go
    std::atomic<std::uint64_t> known{0};
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < 4; i++) {
        threads.emplace_back([&, i] {
            std::mt19937_64 random(i % 2); // two and two ask for the same
            std::string text;
            for (int n = 0; n < 300; n++) {
                text = n % 20 == 0 ? turn(random) : text + turn(random);
                const hashes h = hashed(t, text, {}, &memory);
                ASSERT_EQ(h.locals, from_ids(t, text, {}));
                known += h.result.known_tokens;
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_GT(known, 0u);
    EXPECT_GT(memory.stats().evicted, 0u);
}

} // namespace
