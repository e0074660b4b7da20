/// A small model checker: explore() runs the threads of a model over a fresh State in every order and with
/// every value that C++20 lets a load see, and reports the first execution that breaks a promise.
///
/// atomic<T>    in place of std::atomic<T>
/// var<T>       plain data: finds data races and use after free
/// require()    a promise of the model itself
#pragma once

#include "atomic.hpp"
#include "explorer.hpp"
#include "var.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kvindex::model {

template <typename State>
outcome explore(const options& limits, const std::vector<std::function<void(State&)>>& threads,
                const std::function<void(State&)>& finally = {}) {
    explorer e(limits);
    std::optional<State> state;
    std::vector<std::function<void()>> bodies;
    for (const std::function<void(State&)>& thread : threads) {
        bodies.emplace_back([&state, &thread] { thread(*state); });
    }
    return e.run([&state] { state.emplace(); }, std::move(bodies),
                 [&] {
                     if (finally) {
                         finally(*state);
                     }
                 });
}

inline void require(bool holds, const char* what) {
    if (!holds) {
        explorer::current().fail(what);
    }
}

/// Lets the others go on; comes back when there is a store that the caller need not have seen.
inline void yield() {
    explorer::current().step({op_kind::yield, nullptr, false});
}

inline void print(const outcome& o) {
    std::printf("             %llu executions explored, %llu cut short as equal to others%s\n",
                static_cast<unsigned long long>(o.executions), static_cast<unsigned long long>(o.cut_short),
                o.failure.empty() ? "" : " until the failure");
}

/// The model keeps its promise in each execution, and all were explored.
inline void expect_holds(const outcome& o) {
    print(o);
    EXPECT_EQ(o.failure, "") << o.schedule;
    EXPECT_TRUE(o.complete);
    EXPECT_GT(o.executions, 1u);
}

/// A control: the checker must find this very mistake.
inline void expect_caught(const outcome& o, const std::string& what) {
    print(o);
    EXPECT_NE(o.failure.find(what), std::string::npos) << "found: " << o.failure << '\n' << o.schedule;
}

} // namespace kvindex::model
