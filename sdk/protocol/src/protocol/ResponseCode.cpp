#include "patchbay/protocol/ResponseCode.h"

namespace patchbay::protocol {

std::string_view toString(ResponseCode code) noexcept {
    // A table is easier to check with one line for each entry.
    // clang-format off
    switch (code) {
        case ResponseCode::Success: return "SUCCESS";
        case ResponseCode::SystemError: return "SYSTEM_ERROR";
        case ResponseCode::SystemBusy: return "SYSTEM_BUSY";
        case ResponseCode::RequestCodeNotSupported: return "REQUEST_CODE_NOT_SUPPORTED";
        case ResponseCode::TransactionFailed: return "TRANSACTION_FAILED";
        case ResponseCode::FlushDiskTimeout: return "FLUSH_DISK_TIMEOUT";
        case ResponseCode::SlaveNotAvailable: return "SLAVE_NOT_AVAILABLE";
        case ResponseCode::FlushSlaveTimeout: return "FLUSH_SLAVE_TIMEOUT";
        case ResponseCode::MessageIllegal: return "MESSAGE_ILLEGAL";
        case ResponseCode::ServiceNotAvailable: return "SERVICE_NOT_AVAILABLE";
        case ResponseCode::VersionNotSupported: return "VERSION_NOT_SUPPORTED";
        case ResponseCode::NoPermission: return "NO_PERMISSION";
        case ResponseCode::TopicNotExist: return "TOPIC_NOT_EXIST";
        case ResponseCode::TopicExistAlready: return "TOPIC_EXIST_ALREADY";
        case ResponseCode::PullNotFound: return "PULL_NOT_FOUND";
        case ResponseCode::PullRetryImmediately: return "PULL_RETRY_IMMEDIATELY";
        case ResponseCode::PullOffsetMoved: return "PULL_OFFSET_MOVED";
        case ResponseCode::QueryNotFound: return "QUERY_NOT_FOUND";
        case ResponseCode::SubscriptionParseFailed: return "SUBSCRIPTION_PARSE_FAILED";
        case ResponseCode::SubscriptionNotExist: return "SUBSCRIPTION_NOT_EXIST";
        case ResponseCode::SubscriptionNotLatest: return "SUBSCRIPTION_NOT_LATEST";
        case ResponseCode::SubscriptionGroupNotExist: return "SUBSCRIPTION_GROUP_NOT_EXIST";
        case ResponseCode::FilterDataNotExist: return "FILTER_DATA_NOT_EXIST";
        case ResponseCode::FilterDataNotLatest: return "FILTER_DATA_NOT_LATEST";
        case ResponseCode::InvalidParameter: return "INVALID_PARAMETER";
        case ResponseCode::TransactionShouldCommit: return "TRANSACTION_SHOULD_COMMIT";
        case ResponseCode::TransactionShouldRollback: return "TRANSACTION_SHOULD_ROLLBACK";
        case ResponseCode::TransactionStateUnknow: return "TRANSACTION_STATE_UNKNOW";
        case ResponseCode::TransactionStateGroupWrong: return "TRANSACTION_STATE_GROUP_WRONG";
        case ResponseCode::NoBuyerId: return "NO_BUYER_ID";
        case ResponseCode::NotInCurrentUnit: return "NOT_IN_CURRENT_UNIT";
        case ResponseCode::ConsumerNotOnline: return "CONSUMER_NOT_ONLINE";
        case ResponseCode::ConsumeMsgTimeout: return "CONSUME_MSG_TIMEOUT";
        case ResponseCode::NoMessage: return "NO_MESSAGE";
        case ResponseCode::PollingFull: return "POLLING_FULL";
        case ResponseCode::PollingTimeout: return "POLLING_TIMEOUT";
        case ResponseCode::BrokerNotExist: return "BROKER_NOT_EXIST";
        case ResponseCode::BrokerDispatchNotComplete: return "BROKER_DISPATCH_NOT_COMPLETE";
        case ResponseCode::BroadcastConsumption: return "BROADCAST_CONSUMPTION";
        case ResponseCode::FlowControl: return "FLOW_CONTROL";
        case ResponseCode::NotLeaderForQueue: return "NOT_LEADER_FOR_QUEUE";
        case ResponseCode::IllegalOperation: return "ILLEGAL_OPERATION";
        case ResponseCode::RpcUnknown: return "RPC_UNKNOWN";
        case ResponseCode::RpcAddrIsNull: return "RPC_ADDR_IS_NULL";
        case ResponseCode::RpcSendToChannelFailed: return "RPC_SEND_TO_CHANNEL_FAILED";
        case ResponseCode::RpcTimeOut: return "RPC_TIME_OUT";
        case ResponseCode::GoAway: return "GO_AWAY";
        case ResponseCode::ControllerFencedMasterEpoch: return "CONTROLLER_FENCED_MASTER_EPOCH";
        case ResponseCode::ControllerFencedSyncStateSetEpoch: return "CONTROLLER_FENCED_SYNC_STATE_SET_EPOCH";
        case ResponseCode::ControllerInvalidMaster: return "CONTROLLER_INVALID_MASTER";
        case ResponseCode::ControllerInvalidReplicas: return "CONTROLLER_INVALID_REPLICAS";
        case ResponseCode::ControllerMasterNotAvailable: return "CONTROLLER_MASTER_NOT_AVAILABLE";
        case ResponseCode::ControllerInvalidRequest: return "CONTROLLER_INVALID_REQUEST";
        case ResponseCode::ControllerBrokerNotAlive: return "CONTROLLER_BROKER_NOT_ALIVE";
        case ResponseCode::ControllerNotLeader: return "CONTROLLER_NOT_LEADER";
        case ResponseCode::ControllerBrokerMetadataNotExist: return "CONTROLLER_BROKER_METADATA_NOT_EXIST";
        case ResponseCode::ControllerInvalidCleanBrokerMetadata: return "CONTROLLER_INVALID_CLEAN_BROKER_METADATA";
        case ResponseCode::ControllerBrokerNeedToBeRegistered: return "CONTROLLER_BROKER_NEED_TO_BE_REGISTERED";
        case ResponseCode::ControllerMasterStillExist: return "CONTROLLER_MASTER_STILL_EXIST";
        case ResponseCode::ControllerElectMasterFailed: return "CONTROLLER_ELECT_MASTER_FAILED";
        case ResponseCode::ControllerAlterSyncStateSetFailed: return "CONTROLLER_ALTER_SYNC_STATE_SET_FAILED";
        case ResponseCode::ControllerBrokerIdInvalid: return "CONTROLLER_BROKER_ID_INVALID";
        case ResponseCode::ControllerJraftInternalError: return "CONTROLLER_JRAFT_INTERNAL_ERROR";
        case ResponseCode::ControllerBrokerLiveInfoNotExists: return "CONTROLLER_BROKER_LIVE_INFO_NOT_EXISTS";
        case ResponseCode::UserNotExist: return "USER_NOT_EXIST";
        case ResponseCode::PolicyNotExist: return "POLICY_NOT_EXIST";
    }
    // clang-format on
    return {};
}

ResponseCode responseCodeOf(StatusCode code) noexcept {
    switch (code) {
        case StatusCode::Ok: return ResponseCode::Success;
        case StatusCode::NotFound: return ResponseCode::QueryNotFound;
        case StatusCode::OutOfRange: return ResponseCode::InvalidParameter;
        case StatusCode::NotLeader: return ResponseCode::NotLeaderForQueue;
        case StatusCode::Busy: return ResponseCode::SystemBusy;
        // A producer tries another broker on these.
        case StatusCode::Unavailable:
        case StatusCode::Cancelled:
        case StatusCode::Full: return ResponseCode::ServiceNotAvailable;
        case StatusCode::Denied: return ResponseCode::NoPermission;
        case StatusCode::Unsupported: return ResponseCode::RequestCodeNotSupported;
        case StatusCode::AlreadyExists:
        case StatusCode::InvalidArgument:
        case StatusCode::DeadlineExceeded:
        case StatusCode::Corrupt:
        case StatusCode::Io:
        case StatusCode::Internal: return ResponseCode::SystemError;
    }
    return ResponseCode::SystemError;
}

}  // namespace patchbay::protocol
