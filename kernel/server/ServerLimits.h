// ServerLimits: how much of everything the server takes.
#pragma once

#include "patchbay/protocol/Limits.h"

#include <chrono>
#include <cstdint>

namespace patchbay::kernel {

/// The names in comments are the keys of the main configuration file; RocketMQ's where it has one.
struct ServerLimits {
    std::uint32_t ioThreads = 0;                             ///< ioThreads; 0 = net::defaultLoopCount()
    std::uint32_t executorThreadsMax = 64;                   ///< executorThreadsMax; of all executors together
    std::size_t connectionsMax = 20'000;                     ///< serverConnectionsMax; over all listeners
    std::size_t frameBytesMax = protocol::kFrameBytesMax;    ///< frameMaxLength; with its length word
    std::uint32_t inFlightMax = 8'192;                       ///< serverInFlightMax; per connection, without held requests
    std::size_t readBudget = 256U << 10;                     ///< serverReadBudget; bytes per connection and turn
    std::size_t receiveChunk = 256U << 10;                   ///< serverReceiveChunk; bytes, per loop
    std::size_t outboundHigh = 4U << 20;                     ///< writeBufferHighWaterMark; per connection: reading and serving stop. Exceeded by at most one answer of each thread that serves it
    std::size_t outboundLow = 1U << 20;                      ///< writeBufferLowWaterMark; reading goes on
    std::size_t outboundTotalMax = 256U << 20;               ///< serverOutboundTotalMax; all connections together
    std::size_t heldBackMax = 20'000;                        ///< serverHeldBackMax; requests of connections that do not take their answers
    std::size_t heldBackBytesMax = 64U << 20;                ///< serverHeldBackBytesMax; the same
    std::size_t unfinishedTotalMax = 256U << 20;             ///< serverUnfinishedTotalMax; frames that have not come whole, all connections together
    std::chrono::milliseconds idle = std::chrono::seconds(120);  ///< serverChannelMaxIdleTimeSeconds; neither read nor write
    std::size_t executorQueueBytesMax = 64U << 20;           ///< executorQueueBytesMax; per executor
    std::chrono::milliseconds slowCall{100};                 ///< slowCallWarning; 0 = never
    std::chrono::milliseconds hold{2'000};                   ///< reload.holdMs
    std::size_t holdRequestsMax = 20'000;                    ///< reload.holdRequestsMax; all loops together
    std::size_t holdBytesMax = 64U << 20;                    ///< reload.holdBytesMax; the same
    int socketSendBuffer = 0;                                ///< serverSocketSndBufSize; 0 = the system's
    int socketReceiveBuffer = 0;                             ///< serverSocketRcvBufSize; 0 = the system's
    int backlog = 1024;                                      ///< serverSocketBacklog
};

}  // namespace patchbay::kernel
