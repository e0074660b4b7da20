/// The library through its header, with a router's end of real connections.
#include "client.hpp"
#include "kvpublisher.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <utility>

namespace kvpub {
namespace {

constexpr std::uint64_t end_mark = ~std::uint64_t{0};

struct running {
    explicit running(const std::function<void(kvp_options&)>& set = [](kvp_options&) {}) {
        kvp_options options{};
        set(options);
        options.size = sizeof options;
        options.endpoint = options.endpoint == nullptr ? "tcp://127.0.0.1:0" : options.endpoint;
        options.replay_endpoint =
            options.replay_endpoint == nullptr ? "tcp://127.0.0.1:0" : options.replay_endpoint;
        options.batch_events = options.batch_events == 0 ? 1 : options.batch_events;
        EXPECT_EQ(kvp_create(&options, &handle), KVP_OK);
    }
    ~running() {
        if (handle != nullptr) {
            EXPECT_EQ(kvp_close(handle, 0), KVP_OK);
        }
    }
    running(const running&) = delete;
    running& operator=(const running&) = delete;

    kvp_statistics stats() const {
        kvp_statistics out{};
        EXPECT_EQ(kvp_stats(handle, &out, sizeof out), KVP_OK);
        return out;
    }

    /// Counts follow what a router sees a moment later.
    bool becomes(const std::function<bool(const kvp_statistics&)>& wanted) const {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
        while (!wanted(stats())) {
            if (std::chrono::steady_clock::now() > end) {
                return false;
            }
            std::this_thread::yield();
        }
        return true;
    }

    void remove(std::uint64_t id) const {
        EXPECT_EQ(kvp_removed(handle, &id, 1, KVP_TIER_GPU), KVP_OK);
    }

    kvp_publisher* handle = nullptr;
};

/// A subscription has no answer: the first event that arrives tells that it counts.
std::uint64_t subscribe(client& c, const running& p, const std::string& topic = "") {
    const std::string body = '\1' + topic;
    c.send_message({bytes(body.begin(), body.end())});
    // A PING behind it is answered when it has been read.
    c.send({4, 7, 4, 'P', 'I', 'N', 'G', 0, 10});
    EXPECT_TRUE(c.next().command);
    return p.stats().batches;
}

kvp_blocks blocks_of(const std::vector<std::uint32_t>& tokens, std::uint32_t block_size = 4) {
    kvp_blocks out{};
    out.size = sizeof out;
    out.block_size = block_size;
    out.count = static_cast<std::uint32_t>(tokens.size()) / block_size;
    out.tokens = tokens.data();
    return out;
}

TEST(publisher, a_subscriber_gets_topic_number_and_batch) {
    running p([&](kvp_options& o) { o.topic = "kv@here"; });
    client c(p.stats().port, "SUB");
    ASSERT_EQ(subscribe(c, p, "kv@"), 0u);
    const std::vector<std::uint32_t> tokens{0, 1, 2, 3, 4, 5, 6, 7};
    const kvp_blocks told = blocks_of(tokens);
    std::uint64_t ids[2] = {};
    ASSERT_EQ(kvp_stored(p.handle, &told, ids), KVP_OK);
    EXPECT_EQ(ids[0], 9143094415614847814u);
    EXPECT_EQ(ids[1], 9510318385840434533u);
    ASSERT_EQ(kvp_cleared(p.handle), KVP_OK);
    for (std::uint64_t sequence = 0; sequence < 2; sequence++) {
        const std::vector<bytes> m = c.message();
        ASSERT_EQ(m.size(), 3u);
        EXPECT_EQ(std::string(m[0].begin(), m[0].end()), "kv@here");
        EXPECT_EQ(m[1], big_endian(sequence));
        EXPECT_EQ(m[2].front(), 0x93);
    }
}

TEST(publisher, who_has_not_subscribed_to_the_topic_gets_nothing) {
    running p([&](kvp_options& o) { o.topic = "kv"; });
    client other(p.stats().port, "SUB");
    subscribe(other, p, "kv@");
    client c(p.stats().port, "SUB");
    subscribe(c, p, "k");
    p.remove(1);
    EXPECT_EQ(number(c.message()[1]), 0u);
    c.send({4, 7, 6, 'C', 'A', 'N', 'C', 'E', 'L'}); // its empty prefix was never asked for
    c.send({4, 8, 6, 'C', 'A', 'N', 'C', 'E', 'L', 'k'});
    other.send({4, 7, 4, 'P', 'I', 'N', 'G', 0, 10});
    EXPECT_TRUE(other.next().command) << "nothing came before the answer";
}

TEST(publisher, a_replay_gives_what_is_kept_and_an_end) {
    running p([&](kvp_options& o) {
        o.topic = "t";
        o.replay_batches = 4;
    });
    for (std::uint64_t id = 1; id <= 6; id++) {
        p.remove(id);
    }
    client c(p.stats().replay_port, "DEALER");
    const auto numbers = [&] {
        std::vector<std::uint64_t> out;
        while (out.empty() || out.back() != end_mark) {
            const std::vector<bytes> m = c.message();
            EXPECT_EQ(m.size(), 4u);
            EXPECT_TRUE(m.front().empty());
            out.push_back(number(m[2]));
            EXPECT_EQ(m[3].empty(), out.back() == end_mark);
            EXPECT_EQ(m[1].empty(), out.back() == end_mark);
        }
        return out;
    };
    c.send_message({bytes(), big_endian(0)});
    EXPECT_EQ(numbers(), (std::vector<std::uint64_t>{2, 3, 4, 5, end_mark}));
    c.send_message({bytes(), big_endian(4)});
    EXPECT_EQ(numbers(), (std::vector<std::uint64_t>{4, 5, end_mark}));
    c.send_message({bytes(), bytes{5}});
    EXPECT_EQ(numbers(), (std::vector<std::uint64_t>{5, end_mark}));
    c.send_message({big_endian(0)});
    c.send_message({bytes(), big_endian(0), bytes()});
    c.send_message({bytes(), big_endian(99)});
    EXPECT_EQ(numbers(), (std::vector<std::uint64_t>{end_mark})) << "malformed requests have no answer";
    c.send_message({bytes(), bytes(9, 1)});
    EXPECT_EQ(numbers(), (std::vector<std::uint64_t>{end_mark}));
    EXPECT_TRUE(p.becomes([](const kvp_statistics& s) { return s.replays == 5; }));
}

/// What a router that stands still for a while sees: the newest batches, a gap before them, and all by replay.
TEST(publisher, a_slow_router_loses_the_oldest_batches_of_its_queue_and_the_engine_never_waits) {
    running p([&](kvp_options& o) { o.queue_batches = 8; });
    client c(p.stats().port, "SUB");
    subscribe(c, p);
    // Far more than sockets hold.
    const std::vector<std::uint64_t> ids(3000, 0x123456789abcdefu);
    constexpr std::uint64_t batches = 3000;
    for (std::uint64_t i = 0; i < batches; i++) {
        ASSERT_EQ(kvp_removed(p.handle, ids.data(), 1500, KVP_TIER_GPU), KVP_OK);
    }
    std::uint64_t seen = 0;
    std::uint64_t last = 0;
    while (last != batches - 1) {
        const std::uint64_t now = number(c.message()[1]);
        ASSERT_TRUE(seen == 0 || now > last);
        last = now;
        seen++;
    }
    EXPECT_LT(seen, batches);
    EXPECT_TRUE(p.becomes([&](const kvp_statistics& s) { return seen + s.dropped_batches == batches; }));
    client replay(p.stats().replay_port, "DEALER");
    replay.send_message({bytes(), big_endian(0)});
    for (std::uint64_t i = 0; i < batches; i++) {
        ASSERT_EQ(number(replay.message()[2]), i);
    }
}

TEST(publisher, threads_may_tell_at_once_and_no_event_is_lost) {
    running p([&](kvp_options& o) {
        o.replay_batches = 100000;
        o.batch_events = 16;
    });
    client c(p.stats().port, "SUB");
    subscribe(c, p);
    constexpr int threads = 4;
    constexpr std::uint64_t each = 2000;
    std::vector<std::thread> engines;
    for (int t = 0; t < threads; t++) {
        engines.emplace_back([&] {
            for (std::uint64_t i = 1; i <= each; i++) {
                p.remove(i);
                if (i % 100 == 0) {
                    p.stats();
                }
            }
        });
    }
    for (std::thread& t : engines) {
        t.join();
    }
    std::uint64_t events = 0;
    for (std::uint64_t sequence = 0; events < threads * each; sequence++) {
        const std::vector<bytes> m = c.message();
        ASSERT_EQ(number(m[1]), sequence);
        // 93, a double, then the array of events: of up to 15, or of 16.
        events += m[2][10] == 0xdc ? number({m[2][11], m[2][12]}) : m[2][10] & 0x0fu;
    }
    EXPECT_EQ(p.stats().events, threads * each);
    EXPECT_EQ(p.stats().dropped_batches, 0u);
}

TEST(publisher, what_was_told_before_the_end_still_arrives) {
    running p;
    client c(p.stats().port, "SUB");
    subscribe(c, p);
    for (std::uint64_t id = 1; id <= 500; id++) {
        p.remove(id);
    }
    EXPECT_EQ(kvp_close(std::exchange(p.handle, nullptr), 5000), KVP_OK);
    for (std::uint64_t sequence = 0; sequence < 500; sequence++) {
        ASSERT_EQ(number(c.message()[1]), sequence);
    }
    EXPECT_TRUE(c.ended());
}

TEST(publisher, a_peer_that_speaks_something_else_is_dropped_and_others_stay) {
    running p;
    client c(p.stats().port, "SUB");
    subscribe(c, p);
    client web(p.stats().port, "");
    const std::string request = "GET / HTTP/1.1\r\n\r\n";
    web.send({request.begin(), request.end()});
    web.next(); // the greeting and READY, which come unasked
    EXPECT_TRUE(web.ended());
    client pull(p.stats().port, "");
    pull.send(zmtp::hello("PULL"));
    pull.next();
    EXPECT_TRUE(pull.ended());
    p.remove(7);
    EXPECT_EQ(number(c.message()[1]), 0u);
}

TEST(publisher, serves_a_unix_socket_and_takes_over_a_dead_ones_file) {
    const std::string path = testing::TempDir() + "kvp-" + std::to_string(getpid());
    const std::string endpoint = "ipc://" + path;
    {
        running first([&](kvp_options& o) { o.endpoint = endpoint.c_str(); });
        kvp_options options{};
        options.size = sizeof options;
        options.endpoint = endpoint.c_str();
        options.replay_endpoint = "";
        kvp_publisher* second = nullptr;
        EXPECT_EQ(kvp_create(&options, &second), KVP_E_ADDRESS) << "somebody listens there";
        EXPECT_EQ(errno, EADDRINUSE);
        client c(path, "SUB");
        subscribe(c, first);
        first.remove(1);
        EXPECT_EQ(c.message().size(), 3u);
    }
    struct stat status {};
    EXPECT_NE(stat(path.c_str(), &status), 0) << "its file is gone with it";
    {
        const descriptor dead(socket(AF_UNIX, SOCK_STREAM, 0));
        sockaddr_storage raw{};
        raw.ss_family = AF_UNIX;
        path.copy(reinterpret_cast<char*>(&raw) + sizeof raw.ss_family, path.size());
        ASSERT_EQ(bind(dead.get(), reinterpret_cast<const sockaddr*>(&raw),
                       static_cast<socklen_t>(sizeof raw.ss_family + path.size() + 1)),
                  0);
    }
    running again([&](kvp_options& o) { o.endpoint = endpoint.c_str(); });
    EXPECT_EQ(again.stats().port, 0);
}

TEST(publisher, an_endpoint_that_cannot_be_had_is_told) {
    const auto refused = [](const char* endpoint) {
        kvp_options options{};
        options.size = sizeof options;
        options.endpoint = endpoint;
        options.replay_endpoint = "";
        kvp_publisher* out = nullptr;
        errno = 0;
        EXPECT_EQ(kvp_create(&options, &out), KVP_E_ADDRESS) << endpoint;
        EXPECT_EQ(out, nullptr);
        return errno;
    };
    for (const char* malformed : {"udp://127.0.0.1:1", "tcp://127.0.0.1", "tcp://:5557", "tcp://127.0.0.1:x",
                                  "tcp://127.0.0.1:70000", "ipc://", "5557"}) {
        EXPECT_EQ(refused(malformed), EINVAL) << malformed;
    }
    running p;
    const std::string taken = "tcp://127.0.0.1:" + std::to_string(p.stats().port);
    EXPECT_EQ(refused(taken.c_str()), EADDRINUSE);
}

TEST(publisher, everything_handed_in_is_checked) {
    running p;
    const std::vector<std::uint32_t> tokens(16);
    const std::uint64_t zero = 0;
    const kvp_blocks good = blocks_of(tokens);
    const auto refused = [&](auto&& change) {
        kvp_blocks wrong = good;
        change(wrong);
        return kvp_stored(p.handle, &wrong, nullptr) == KVP_E_ARGUMENT;
    };
    EXPECT_TRUE(refused([](kvp_blocks& b) { b.size--; }));
    EXPECT_TRUE(refused([](kvp_blocks& b) { b.count = 0; }));
    EXPECT_TRUE(refused([](kvp_blocks& b) { b.count = KVP_MAX_BLOCKS + 1; }));
    EXPECT_TRUE(refused([](kvp_blocks& b) { b.block_size = 0; }));
    EXPECT_TRUE(refused([](kvp_blocks& b) { b.block_size = KVP_MAX_BLOCK_SIZE + 1; }));
    EXPECT_TRUE(refused([](kvp_blocks& b) {
        b.count = KVP_MAX_BLOCKS;
        b.block_size = KVP_MAX_BLOCK_SIZE;
    }));
    EXPECT_TRUE(refused([](kvp_blocks& b) { b.tier = 4; }));
    EXPECT_TRUE(refused([](kvp_blocks& b) { b.has_parent = 2; }));
    EXPECT_TRUE(refused([](kvp_blocks& b) { b.has_parent = 1; })) << "0 is nobody's name";
    EXPECT_TRUE(refused([](kvp_blocks& b) { b.parent = 5; }));
    EXPECT_TRUE(refused([](kvp_blocks& b) { b.reserved = 1; }));
    EXPECT_TRUE(refused([](kvp_blocks& b) { b.tokens = nullptr; }));
    EXPECT_TRUE(refused([](kvp_blocks& b) { b.lora = "\xff"; }));
    EXPECT_TRUE(refused([&](kvp_blocks& b) {
        b.count = 1;
        b.ids = &zero;
    }));
    const std::string long_salt(KVP_MAX_TEXT + 1, 's');
    EXPECT_TRUE(refused([&](kvp_blocks& b) { b.salt = long_salt.c_str(); }));
    const std::uint64_t id = 1;
    EXPECT_EQ(kvp_removed(p.handle, nullptr, 1, KVP_TIER_GPU), KVP_E_ARGUMENT);
    EXPECT_EQ(kvp_removed(p.handle, &id, 0, KVP_TIER_GPU), KVP_E_ARGUMENT);
    EXPECT_EQ(kvp_removed(p.handle, &id, 1, 4), KVP_E_ARGUMENT);
    EXPECT_EQ(kvp_removed(p.handle, &zero, 1, KVP_TIER_GPU), KVP_E_ARGUMENT);
    EXPECT_EQ(kvp_removed(nullptr, &id, 1, KVP_TIER_GPU), KVP_E_ARGUMENT);
    EXPECT_EQ(kvp_cleared(nullptr), KVP_E_ARGUMENT);
    EXPECT_EQ(kvp_close(nullptr, 0), KVP_E_ARGUMENT);
    EXPECT_EQ(kvp_abi_version(nullptr), KVP_E_ARGUMENT);
    EXPECT_EQ(kvp_block_ids(&good, nullptr), KVP_E_ARGUMENT);
    kvp_statistics stats{};
    EXPECT_EQ(kvp_stats(p.handle, &stats, sizeof stats - 8), KVP_E_ARGUMENT);
    EXPECT_EQ(p.stats().events, 0u) << "a refused event leaves no trace";
    kvp_options options{};
    kvp_publisher* out = nullptr;
    EXPECT_EQ(kvp_create(&options, &out), KVP_E_ARGUMENT);
    EXPECT_EQ(kvp_create(nullptr, &out), KVP_E_ARGUMENT);
    options.size = sizeof options;
    EXPECT_EQ(kvp_create(&options, nullptr), KVP_E_ARGUMENT);
    options.replay_batches = KVP_MAX_BATCHES + 1;
    EXPECT_EQ(kvp_create(&options, &out), KVP_E_ARGUMENT);
}

} // namespace
} // namespace kvpub
