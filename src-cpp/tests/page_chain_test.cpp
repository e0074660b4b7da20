/// SHA-256 against its published vectors, the instruction sets against each other, and the page chain against
/// digests of the engine's own function (data/sglang_pages.inc).
#include "base/page_chain.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace kvindex::tests {
namespace {

struct page_case {
    std::string_view name;
    std::uint32_t page_size;
    bool bigram;
    std::string_view seed; // hex
    std::vector<std::uint32_t> tokens;
    std::vector<std::string_view> pages; // hex
};

#include "data/sglang_pages.inc"

std::string hex(const sha256_digest& digest) {
    static constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (const std::uint8_t byte : digest) {
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

std::vector<std::uint8_t> unhex(std::string_view text) {
    std::vector<std::uint8_t> bytes;
    for (std::size_t i = 0; i < text.size(); i += 2) {
        bytes.push_back(static_cast<std::uint8_t>(std::stoi(std::string(text.substr(i, 2)), nullptr, 16)));
    }
    return bytes;
}

std::vector<sha_isa> machine() {
    std::vector<sha_isa> all;
    for (const sha_isa isa : {sha_isa::portable, sha_isa::sha_ni, sha_isa::armv8}) {
        if (sha_available(isa)) {
            all.push_back(isa);
        }
    }
    return all;
}

std::string digest_of(std::string_view text, sha_isa isa) {
    sha256 sha(isa);
    sha.update({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
    sha256_digest out;
    sha.finish(out);
    return hex(out);
}

TEST(sha256, the_published_messages_have_the_published_digests) {
    for (const sha_isa isa : machine()) {
        EXPECT_EQ(digest_of("", isa), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        EXPECT_EQ(digest_of("abc", isa), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        EXPECT_EQ(digest_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", isa),
                  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
        EXPECT_EQ(digest_of(std::string(1'000'000, 'a'), isa),
                  "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    }
}

TEST(sha256, a_message_may_come_in_any_pieces_on_any_instruction_set) {
    std::mt19937_64 random(7);
    for (int round = 0; round < 200; round++) {
        std::vector<std::uint8_t> message(random() % 300);
        for (std::uint8_t& byte : message) {
            byte = static_cast<std::uint8_t>(random());
        }
        sha256 whole(sha_isa::portable);
        whole.update(message);
        sha256_digest expected;
        whole.finish(expected);
        for (const sha_isa isa : machine()) {
            sha256 pieces(isa);
            for (std::span<const std::uint8_t> rest = message; !rest.empty();) {
                const std::size_t n = std::min<std::size_t>(rest.size(), 1 + random() % 100);
                pieces.update(rest.first(n));
                rest = rest.subspan(n);
            }
            sha256_digest found;
            pieces.finish(found);
            ASSERT_EQ(hex(found), hex(expected)) << "seed 7, round " << round;
        }
    }
}

TEST(page_chain, pages_equal_the_engines_own) {
    ASSERT_GT(page_cases.size(), 25u);
    for (const page_case& c : page_cases) {
        const auto tokens = static_cast<std::uint32_t>(c.tokens.size());
        ASSERT_EQ(page_count(tokens, c.page_size, c.bigram), c.pages.size()) << c.name;
        for (const sha_isa isa : machine()) {
            std::vector<sha256_digest> digests(c.pages.size());
            chain_pages(c.tokens.data(), c.page_size, c.bigram, unhex(c.seed), digests, isa);
            for (std::size_t i = 0; i < digests.size(); i++) {
                EXPECT_EQ(hex(digests[i]), c.pages[i]) << c.name << ", page " << i;
            }
        }
    }
}

} // namespace
} // namespace kvindex::tests
