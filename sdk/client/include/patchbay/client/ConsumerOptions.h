// ConsumerOptions: what push and pull consumers have in common.
#pragma once

#include "patchbay/client/Allocation.h"
#include "patchbay/client/ClientOptions.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace patchbay::client {

/// Which messages of a topic are wanted.
struct Filter {
    std::string expression = "*";
    std::string type = "TAG";

    [[nodiscard]] static Filter all() { return {}; }
    /// "TagA || TagB"
    [[nodiscard]] static Filter tags(std::string expression) { return {std::move(expression), "TAG"}; }
    /// Over properties: "price > 5 and region in ('north', 'south')". The broker has to be told to allow it (enablePropertyFilter).
    [[nodiscard]] static Filter sql(std::string expression) { return {std::move(expression), "SQL92"}; }
};

enum class ConsumerModel : std::uint8_t {
    Clustering,    ///< each message to one consumer of the group; progress is kept by the broker
    Broadcasting,  ///< each message to every consumer; progress is kept in a file here, and what fails is not tried again
};

/// Where a group begins in a queue that it has no progress in.
enum class ConsumeFrom : std::uint8_t {
    LastOffset,   ///< with what comes next (a young topic that still has its first message is read from the beginning)
    FirstOffset,  ///< with the oldest message
    Timestamp,    ///< with what was stored from ConsumerOptions::fromTime on
};

/// A value type; the defaults are those of RocketMQ's Java client.
struct ConsumerOptions {
    ClientOptions client{};
    std::string group{};  ///< required; all consumers of a group have to have the same subscriptions
    ConsumerModel model = ConsumerModel::Clustering;
    ConsumeFrom from = ConsumeFrom::LastOffset;
    std::optional<std::chrono::system_clock::time_point> fromTime{};  ///< for Timestamp; half an hour ago when left out
    AllocationPtr allocation{};                                      ///< averagely when left out

    std::int32_t pullBatch = 32;                          ///< messages of one answer, 1 to 1024
    std::size_t queueMessagesMax = 1000;                  ///< kept of one queue; when there are more, pulling waits
    std::size_t queueBytesMax = 100U << 20;
    std::int64_t spanMax = 2000;                          ///< between the oldest and the newest kept offset of a queue (not for orderly listeners)
    std::chrono::milliseconds pullInterval{0};            ///< pause between two pulls of a queue
    std::chrono::milliseconds offsetInterval{5000};       ///< how often progress is told to the broker, or written; from 100 ms
    std::chrono::milliseconds rebalanceInterval{20'000};  ///< how often queues are divided anew without a notice; from 1 s
    std::chrono::milliseconds pullSuspend{15'000};        ///< how long the broker keeps a question until messages come
    /// Where a broadcasting consumer keeps its progress; "~/.rocketmq_offsets", as Java, when empty. Give the client an instanceName, too.
    std::string offsetDirectory{};
    bool trace = false;                                   ///< records of each call of the listener, or of poll(), go to traceTopic
    std::string traceTopic = "RMQ_SYS_TRACE_TOPIC";

    // --- push consumers only
    std::size_t threads = 20;                             ///< that run the listener, 1 to 1000
    std::size_t batchMax = 1;                             ///< messages of one call of the listener, 1 to 1024
    int maxReconsumeTimes = -1;                           ///< further tries before the dead letters; -1: 16, and without end for orderly listeners
    std::chrono::minutes consumeTimeout{15};              ///< a message that is longer in work goes back to the broker
    std::chrono::milliseconds suspendTime{1000};          ///< of a queue whose orderly listener asked for it; 10 ms to 30 s
    std::chrono::milliseconds closeTimeout{10'000};       ///< how long close() waits for listeners at work
};

}  // namespace patchbay::client
