/// Fuzz body: the bytes choose calls of every function of kvtracker.h, with right and wrong arguments. A call
/// that is refused says why as the header promises, writes nothing and changes nothing; the others answer what
/// the literal tracker answers.
#include "kvtracker.h"

#include "literal_tracker.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace {

#define REQUIRE(condition)                                                                                     \
    do {                                                                                                       \
        if (!(condition)) {                                                                                    \
            std::fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);                 \
            std::abort();                                                                                      \
        }                                                                                                      \
    } while (0)

constexpr std::uint32_t backends = 20; // more than are searched side by side
constexpr std::uint64_t untouched = 0x5a5a5a5a5a5a5a5a;

class choices {
public:
    choices(const std::uint8_t* data, std::size_t size) : m_data(data), m_left(size) {
    }

    bool more() const {
        return m_left != 0;
    }

    std::uint32_t below(std::uint32_t n) {
        if (m_left == 0) {
            return 0;
        }
        m_left--;
        return *m_data++ % n;
    }

private:
    const std::uint8_t* m_data;
    std::size_t m_left;
};

/// A tracker and its literal form. Back end b is incarnation m_incarnation[b] of number b.
class caller {
public:
    caller(const std::uint8_t* data, std::size_t size)
        : m_choices(data, size), m_options(options_from(m_choices)), m_literal(m_options) {
        kvt_config config{};
        config.size = sizeof config;
        config.block_size = m_options.block_size;
        config.hashing = static_cast<std::uint32_t>(m_options.how);
        config.max_blocks = m_options.max_blocks;
        kvt_config wrong = config;
        switch (m_choices.below(6)) {
        case 0:
            wrong.size--;
            break;
        case 1:
            wrong.block_size = 0;
            break;
        case 2:
            wrong.block_size = KVI_MAX_BLOCK_SIZE + 1;
            break;
        case 3:
            wrong.hashing = 2;
            break;
        case 4:
            wrong.reserved = 1;
            break;
        default:
            wrong.max_blocks = (std::uint64_t{1} << 30) + 1;
        }
        REQUIRE(kvt_open(&wrong, &m_tracker) == KVI_E_ARGUMENT && m_tracker == nullptr);
        REQUIRE(kvt_open(nullptr, &m_tracker) == KVI_E_ARGUMENT &&
                kvt_open(&config, nullptr) == KVI_E_ARGUMENT);
        REQUIRE(kvt_open(&config, &m_tracker) == KVI_OK);
    }

    ~caller() {
        REQUIRE(kvt_close(m_tracker) == KVI_OK);
    }

    caller(const caller&) = delete;
    caller& operator=(const caller&) = delete;

    void run() {
        while (m_choices.more()) {
            const std::uint32_t number = m_choices.below(backends);
            m_wrong_incarnation = m_choices.below(16) == 15;
            const std::uint32_t backend =
                number + ((m_incarnation[number] + (m_wrong_incarnation ? 1u : 0u)) << 14);
            switch (m_choices.below(8)) {
            case 0:
                join(number);
                break;
            case 1:
                leave(number, backend);
                break;
            case 2:
                evict(number, backend);
                break;
            case 3:
            case 4:
                find();
                break;
            default:
                record(number, backend);
            }
            compare_sums();
        }
    }

private:
    static kvindex::tracker::tracker_options options_from(choices& c) {
        return {.block_size = 1 + c.below(3),
                .how = static_cast<kvindex::tracker::hashing>(c.below(2)),
                .max_blocks = 1 + c.below(40)};
    }

    void join(std::uint32_t number) {
        REQUIRE(kvt_join(nullptr, number) == KVI_E_ARGUMENT);
        if (m_wrong_incarnation) { // the number goes to its next incarnation
            m_incarnation[number]++;
            m_literal.leave(number);
        }
        REQUIRE(kvt_join(m_tracker, number + (m_incarnation[number] << 14)) == KVI_OK);
        m_literal.join(number);
    }

    void leave(std::uint32_t number, std::uint32_t backend) {
        REQUIRE(kvt_leave(nullptr, backend) == KVI_E_ARGUMENT);
        const bool there = !m_wrong_incarnation && m_literal.leave(number);
        REQUIRE(kvt_leave(m_tracker, backend) == (there ? KVI_OK : KVI_E_SLOT));
    }

    void evict(std::uint32_t number, std::uint32_t backend) {
        std::uint64_t evicted = untouched;
        const std::uint32_t most = m_choices.below(64);
        REQUIRE(kvt_evict(m_tracker, backend, most, nullptr) == KVI_E_ARGUMENT);
        if (most == 63) {
            REQUIRE(kvt_evict_all(m_tracker, nullptr) == KVI_E_ARGUMENT);
            REQUIRE(kvt_evict_all(m_tracker, &evicted) == KVI_OK);
            std::uint64_t expected = 0;
            for (std::uint32_t b = 0; b < backends; b++) {
                expected += m_literal.evict(b, m_options.max_blocks).value_or(0);
            }
            REQUIRE(evicted == expected);
            return;
        }
        const auto expected = m_wrong_incarnation ? std::nullopt : m_literal.evict(number, most);
        REQUIRE(kvt_evict(m_tracker, backend, most, &evicted) == (expected ? KVI_OK : KVI_E_SLOT));
        REQUIRE(evicted == expected.value_or(untouched));
    }

    void find() {
        take_prompt();
        const std::uint32_t capacity = m_choices.below(4) == 3 ? m_choices.below(3) : backends;
        const auto out = std::make_unique<kvt_hit[]>(capacity); // not one longer: the address sanitizer sees it
        std::uint32_t count = 77;
        REQUIRE(kvt_find(nullptr, m_tokens.get(), m_count, 0, out.get(), capacity, &count) == KVI_E_ARGUMENT);
        REQUIRE(kvt_find(m_tracker, m_tokens.get(), m_count, 0, out.get(), capacity, nullptr) ==
                KVI_E_ARGUMENT);
        REQUIRE(kvt_find(m_tracker, nullptr, 1, 0, out.get(), capacity, &count) == KVI_E_ARGUMENT);
        REQUIRE(kvt_find(m_tracker, m_tokens.get(), m_count, 0, nullptr, 1, &count) == KVI_E_ARGUMENT);
        auto literal = m_literal; // a refused look-up leaves no trace
        const auto expected = literal.find(m_prompt, m_seed);
        const std::int32_t status =
            kvt_find(m_tracker, m_tokens.get(), m_count, m_seed, out.get(), capacity, &count);
        if (expected.size() > capacity) {
            REQUIRE(status == KVI_E_CAPACITY && count == 77);
            return;
        }
        m_literal = literal;
        REQUIRE(status == KVI_OK && count == expected.size());
        for (std::size_t i = 0; i < expected.size(); i++) {
            REQUIRE(out[i].backend == expected[i].backend && out[i].blocks == expected[i].blocks);
        }
    }

    void record(std::uint32_t number, std::uint32_t backend) {
        take_prompt();
        std::uint64_t fresh = untouched;
        REQUIRE(kvt_record(nullptr, backend, m_tokens.get(), m_count, m_seed, &fresh) == KVI_E_ARGUMENT);
        REQUIRE(kvt_record(m_tracker, backend, nullptr, 1, m_seed, &fresh) == KVI_E_ARGUMENT);
        REQUIRE(kvt_record(m_tracker, backend, m_tokens.get(), m_count, m_seed, nullptr) == KVI_E_ARGUMENT);
        const auto* const askew =
            reinterpret_cast<const std::uint32_t*>(reinterpret_cast<const unsigned char*>(m_tokens.get()) + 1);
        REQUIRE(kvt_record(m_tracker, backend, askew, 1, m_seed, &fresh) == KVI_E_ARGUMENT);
        const auto expected = m_wrong_incarnation ? std::nullopt : m_literal.record(number, m_prompt, m_seed);
        REQUIRE(kvt_record(m_tracker, backend, m_tokens.get(), m_count, m_seed, &fresh) ==
                (expected ? KVI_OK : KVI_E_SLOT));
        REQUIRE(fresh == expected.value_or(untouched));
    }

    void compare_sums() {
        kvt_statistics s{};
        REQUIRE(kvt_stats(m_tracker, nullptr) == KVI_E_ARGUMENT && kvt_stats(nullptr, &s) == KVI_E_ARGUMENT);
        REQUIRE(kvt_stats(m_tracker, &s) == KVI_OK);
        REQUIRE(s.blocks == m_literal.blocks() && s.backends == m_literal.backends());
        REQUIRE((s.bytes == 0) == (s.backends == 0));
    }

    void take_prompt() {
        m_prompt.resize(m_choices.below(40));
        std::generate(m_prompt.begin(), m_prompt.end(), [&] { return m_choices.below(2); });
        m_seed = m_choices.below(8) == 7 ? 99 : 0;
        m_count = static_cast<std::uint32_t>(m_prompt.size());
        m_tokens = std::make_unique<std::uint32_t[]>(m_count); // exactly as long
        std::copy(m_prompt.begin(), m_prompt.end(), m_tokens.get());
    }

    choices m_choices;
    kvindex::tracker::tracker_options m_options;
    kvindex::tests::literal_tracker m_literal;
    kvt_tracker* m_tracker = nullptr;
    std::array<std::uint32_t, backends> m_incarnation{};
    bool m_wrong_incarnation = false;
    kvindex::tests::literal_tracker::prompt m_prompt;
    std::unique_ptr<std::uint32_t[]> m_tokens;
    std::uint32_t m_count = 0;
    std::uint64_t m_seed = 0;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    caller(data, size).run();
    return 0;
}
