// ResponseCode: how an answer says what became of the request. Names and numbers are the protocol's own.
#pragma once

#include "patchbay/base/Status.h"

#include <cstdint>
#include <string_view>

namespace patchbay::protocol {

/// FlushDiskTimeout, SlaveNotAvailable and FlushSlaveTimeout are successes with a warning when they answer a send.
enum class ResponseCode : std::int32_t {
    Success = 0,
    SystemError = 1,
    SystemBusy = 2,
    RequestCodeNotSupported = 3,
    TransactionFailed = 4,
    FlushDiskTimeout = 10,
    SlaveNotAvailable = 11,
    FlushSlaveTimeout = 12,
    MessageIllegal = 13,
    ServiceNotAvailable = 14,
    VersionNotSupported = 15,
    NoPermission = 16,
    TopicNotExist = 17,
    TopicExistAlready = 18,
    PullNotFound = 19,
    PullRetryImmediately = 20,
    PullOffsetMoved = 21,
    QueryNotFound = 22,
    SubscriptionParseFailed = 23,
    SubscriptionNotExist = 24,
    SubscriptionNotLatest = 25,
    SubscriptionGroupNotExist = 26,
    FilterDataNotExist = 27,
    FilterDataNotLatest = 28,
    InvalidParameter = 29,
    TransactionShouldCommit = 200,
    TransactionShouldRollback = 201,
    TransactionStateUnknow = 202,
    TransactionStateGroupWrong = 203,
    NoBuyerId = 204,
    NotInCurrentUnit = 205,
    ConsumerNotOnline = 206,
    ConsumeMsgTimeout = 207,
    NoMessage = 208,
    PollingFull = 209,
    PollingTimeout = 210,
    BrokerNotExist = 211,
    BrokerDispatchNotComplete = 212,
    BroadcastConsumption = 213,
    FlowControl = 215,
    NotLeaderForQueue = 501,
    IllegalOperation = 604,
    RpcUnknown = -1000,
    RpcAddrIsNull = -1002,
    RpcSendToChannelFailed = -1004,
    RpcTimeOut = -1006,
    GoAway = 1500,
    ControllerFencedMasterEpoch = 2000,
    ControllerFencedSyncStateSetEpoch = 2001,
    ControllerInvalidMaster = 2002,
    ControllerInvalidReplicas = 2003,
    ControllerMasterNotAvailable = 2004,
    ControllerInvalidRequest = 2005,
    ControllerBrokerNotAlive = 2006,
    ControllerNotLeader = 2007,
    ControllerBrokerMetadataNotExist = 2008,
    ControllerInvalidCleanBrokerMetadata = 2009,
    ControllerBrokerNeedToBeRegistered = 2010,
    ControllerMasterStillExist = 2011,
    ControllerElectMasterFailed = 2012,
    ControllerAlterSyncStateSetFailed = 2013,
    ControllerBrokerIdInvalid = 2014,
    ControllerJraftInternalError = 2015,
    ControllerBrokerLiveInfoNotExists = 2016,
    UserNotExist = 3001,
    PolicyNotExist = 3002,
};

/// The protocol's name, e.g. "TOPIC_NOT_EXIST"; empty for a number without a name.
[[nodiscard]] std::string_view toString(ResponseCode code) noexcept;

/// What a peer sees of a Status: the only such mapping in the project. Processors whose answer is more specific (a
/// topic that does not exist, a send whose flush is late) choose their code themselves.
/// A header that cannot be read is InvalidArgument and therefore SystemError, as from a Java server.
[[nodiscard]] ResponseCode responseCodeOf(StatusCode code) noexcept;

}  // namespace patchbay::protocol
