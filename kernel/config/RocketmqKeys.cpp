#include "config/RocketmqKeys.h"

namespace patchbay::kernel {

namespace {

using K = RocketmqKey::Kind;

// What the fields of Java's classes are; int and long are one here, enumerations are texts.
constexpr auto B = plugin::ConfigType::Bool;
constexpr auto I = plugin::ConfigType::Int;
constexpr auto N = plugin::ConfigType::Double;
constexpr auto S = plugin::ConfigType::Text;

constexpr RocketmqKey kKeys[] = {
    // Broker: identity, network, registration
    {"brokerClusterName", S}, {"brokerName", S}, {"brokerId", I}, {"brokerIP1", S}, {"brokerIP2", S},
    {"listenPort", I}, {"haListenPort", I}, {"bindAddress", S}, {"namesrvAddr", S},
    {"fetchNamesrvAddrByAddressServer", B}, {"fetchNameSrvAddrByDnsLookup", B}, {"fetchNamesrvAddrInterval", I},
    {"updateNameServerAddrPeriod", I}, {"registerNameServerPeriod", I}, {"registerBrokerTimeoutMills", I},
    {"forceRegister", B}, {"compressedRegister", B}, {"enableSplitRegistration", B}, {"splitRegistrationSize", I},
    {"enableSingleTopicRegister", B}, {"brokerHeartbeatInterval", I}, {"sendHeartbeatTimeoutMillis", I},
    {"brokerNotActiveTimeoutMillis", I}, {"compatibleWithOldNameSrv", B}, {"enableSlaveActingMaster", B},
    {"enableRemoteEscape", B}, {"skipPreOnline", B}, {"syncBrokerMemberGroupPeriod", I}, {"lockInStrictMode", B},
    {"brokerPermission", I}, {"rocketmqHome", S, K::Path}, {"brokerConfigPath", S, K::Path}, {"configBlackList", S},
    {"isolateLogEnable", B}, {"startAcceptSendRequestTimeStamp", I},
    // Broker: topics, groups, sending
    {"autoCreateTopicEnable", B}, {"defaultTopicQueueNums", I}, {"clusterTopicEnable", B}, {"brokerTopicEnable", B},
    {"autoCreateSubscriptionGroup", B}, {"enableCreateSysGroup", B}, {"traceTopicEnable", B}, {"msgTraceTopicName", S},
    {"traceOn", B}, {"regionId", S}, {"rejectTransactionMessage", B}, {"storeReplyMessageEnable", B},
    {"validateSystemTopicWhenUpdateTopic", B}, {"enableMixedMessageType", B}, {"recallMessageEnable", B},
    {"allowRecallWhenBrokerNotWriteable", B}, {"enableRegisterProducer", B}, {"asyncSendEnable", B},
    {"clearRetryTopicWhenDeleteTopic", B}, {"transferMsgByHeap", B}, {"aclEnable", B, K::Promise},
    {"configManagerVersion", S}, {"consumerOffsetUpdateVersionStep", I}, {"delayOffsetUpdateVersionStep", I},
    // Broker: pulling, consumers, filters
    {"longPollingEnable", B}, {"shortPollingTimeMills", I}, {"litePullMessageEnable", B}, {"slaveReadEnable", B},
    {"disableConsumeIfConsumerReadSlowly", B}, {"consumerFallbehindThreshold", I}, {"rejectPullConsumerEnable", B},
    {"notifyConsumerIdsChangedEnable", B}, {"realTimeNotifyConsumerChange", B}, {"channelExpiredTimeout", I},
    {"subscriptionExpiredTimeout", I}, {"enablePropertyFilter", B}, {"filterSupportRetry", B},
    {"enableCalcFilterBitMap", B}, {"expectConsumerNumUseFilter", I}, {"maxErrorRateOfBloomFilter", I},
    {"filterDataCleanTimeSpan", I}, {"flushConsumerOffsetInterval", I}, {"flushConsumerOffsetHistoryInterval", I},
    {"enableBroadcastOffsetStore", B}, {"broadcastOffsetExpireSecond", I}, {"broadcastOffsetExpireMaxSecond", I},
    {"useServerSideResetOffset", B}, {"useStaticSubscription", B}, {"serverLoadBalancerEnable", B},
    {"defaultMessageRequestMode", S}, {"defaultPopShareQueueNum", I}, {"loadBalancePollNameServerInterval", I},
    {"enableNetWorkFlowControl", B}, {"cgColdReadThreshold", I}, {"globalColdReadThreshold", I},
    {"coldCtrStrategyEnable", B}, {"usePIDColdCtrStrategy", B}, {"forwardTimeout", I}, {"enableDetailStat", B},
    {"autoDeleteUnusedStats", B}, {"maxStatsIdleTimeInMinutes", I}, {"accountStatsEnable", B},
    {"accountStatsPrintZeroValues", B},
    // Broker: thread pools, queues, flow control
    {"sendMessageThreadPoolNums", I}, {"sendThreadPoolQueueCapacity", I}, {"putMessageFutureThreadPoolNums", I},
    {"putThreadPoolQueueCapacity", I}, {"pullMessageThreadPoolNums", I}, {"pullThreadPoolQueueCapacity", I},
    {"litePullMessageThreadPoolNums", I}, {"litePullThreadPoolQueueCapacity", I}, {"ackMessageThreadPoolNums", I},
    {"ackThreadPoolQueueCapacity", I}, {"processReplyMessageThreadPoolNums", I}, {"replyThreadPoolQueueCapacity", I},
    {"queryMessageThreadPoolNums", I}, {"queryThreadPoolQueueCapacity", I}, {"adminBrokerThreadPoolNums", I},
    {"adminBrokerThreadPoolQueueCapacity", I}, {"clientManageThreadPoolNums", I},
    {"clientManagerThreadPoolQueueCapacity", I}, {"consumerManageThreadPoolNums", I},
    {"consumerManagerThreadPoolQueueCapacity", I}, {"heartbeatThreadPoolNums", I},
    {"heartbeatThreadPoolQueueCapacity", I}, {"endTransactionThreadPoolNums", I},
    {"endTransactionPoolQueueCapacity", I}, {"loadBalanceProcessorThreadPoolNums", I},
    {"loadBalanceThreadPoolQueueCapacity", I}, {"brokerFastFailureEnable", B}, {"waitTimeMillsInSendQueue", I},
    {"waitTimeMillsInPullQueue", I}, {"waitTimeMillsInLitePullQueue", I}, {"waitTimeMillsInHeartbeatQueue", I},
    {"waitTimeMillsInTransactionQueue", I}, {"waitTimeMillsInAckQueue", I}, {"waitTimeMillsInAdminBrokerQueue", I},
    {"useReentrantLockWhenPutMessage", B},
    // Broker: transactions, pop, metrics
    {"transactionTimeOut", I}, {"transactionCheckMax", I}, {"transactionCheckInterval", I},
    {"transactionOpMsgMaxSize", I}, {"transactionOpBatchInterval", I}, {"transactionMetricFlushInterval", I},
    {"reviveQueueNum", I}, {"reviveInterval", I}, {"reviveMaxSlow", I}, {"reviveScanTime", I}, {"reviveAckWaitMs", I},
    {"popPollingSize", I}, {"popPollingMapSize", I}, {"popPollingMapExpireTimeSeconds", I}, {"maxPopPollingSize", I},
    {"popLongPollingForceNotifyInterval", I}, {"enablePopBufferMerge", B}, {"popCkStayBufferTime", I},
    {"popCkStayBufferTimeOut", I}, {"popCkMaxBufferSize", I}, {"popCkOffsetMaxQueueSize", I}, {"enablePopBatchAck", B},
    {"enablePopLog", B}, {"enableSkipLongAwaitingAck", B}, {"enablePopMessageThreshold", B},
    {"popInflightMessageThreshold", I}, {"enableRetryTopicV2", B}, {"retrieveMessageFromPopRetryTopicV1", B},
    {"popFromRetryProbability", I}, {"popResponseReturnActualRetryTopic", B}, {"initPopOffsetByCheckMsgInMem", B},
    {"enableNotifyBeforePopCalculateLag", B}, {"enableNotifyAfterPopOrderLockRelease", B},
    {"popConsumerFSServiceInit", B}, {"popConsumerKVServiceInit", B}, {"popConsumerKVServiceEnable", B},
    {"popConsumerKVServiceLog", B}, {"popReviveMaxReturnSizePerRead", I}, {"popReviveMaxAttemptTimes", I},
    {"skipWhenCKRePutReachMaxTimes", B}, {"appendAckAsync", B}, {"appendCkAsync", B}, {"metricsExporterType", S},
    {"metricsPromExporterPort", I}, {"metricsPromExporterHost", S}, {"metricsLabel", S}, {"metricsInDelta", B},
    {"metricsOtelCardinalityLimit", I}, {"metricsGrpcExporterTarget", S}, {"metricsGrpcExporterHeader", S},
    {"metricGrpcExporterTimeOutInMills", I}, {"metricGrpcExporterIntervalInMills", I},
    {"metricLoggingExporterIntervalInMills", I}, {"enableRemotingMetrics", B}, {"enableMessageStoreMetrics", B},
    {"enablePopMetrics", B}, {"enableConnectionMetrics", B}, {"enableTransactionMetrics", B},
    {"enableStatsMetrics", B}, {"enableRequestMetrics", B}, {"enableLagAndDlqMetrics", B}, {"estimateAccumulation", B},
    {"enableSplitMetadata", B}, {"splitMetadataSize", I}, {"enableLmqStats", B}, {"enableFastChannelEventProcess", B},
    {"printChannelGroups", B}, {"printChannelGroupsMinNum", I},
    // Broker: controller mode
    {"enableControllerMode", B, K::Promise}, {"controllerAddr", S}, {"fetchControllerAddrByDnsLookup", B},
    {"syncBrokerMetadataPeriod", I}, {"checkSyncStateSetPeriod", I}, {"syncControllerMetadataPeriod", I},
    {"controllerHeartBeatTimeoutMills", I}, {"brokerElectionPriority", I},
    // Store
    {"storePathRootDir", S, K::Path}, {"storePathCommitLog", S, K::Path}, {"readOnlyCommitLogStorePaths", S, K::Path},
    {"storeType", S}, {"mappedFileSizeCommitLog", I}, {"mappedFileSizeConsumeQueue", I},
    {"mappedFileSizeConsumeQueueExt", I}, {"enableConsumeQueueExt", B}, {"bitMapLengthConsumeQueueExt", I},
    {"mapperFileSizeBatchConsumeQueue", I}, {"maxMessageSize", I}, {"maxTopicLength", I},
    {"autoMessageVersionOnTopicLen", B}, {"flushDiskType", S}, {"syncFlushTimeout", I}, {"flushIntervalCommitLog", I},
    {"commitIntervalCommitLog", I}, {"flushCommitLogTimed", B}, {"flushCommitLogLeastPages", I},
    {"commitCommitLogLeastPages", I}, {"flushConsumeQueueLeastPages", I}, {"flushCommitLogThoroughInterval", I},
    {"commitCommitLogThoroughInterval", I}, {"flushConsumeQueueThoroughInterval", I}, {"flushIntervalConsumeQueue", I},
    {"brokerRole", S}, {"slaveTimeout", I}, {"putMessageTimeout", I}, {"haSendHeartbeatInterval", I},
    {"haHousekeepingInterval", I}, {"haTransferBatchSize", I}, {"haMaxGapNotInSync", I}, {"haMasterAddress", S},
    {"totalReplicas", I}, {"inSyncReplicas", I}, {"minInSyncReplicas", I}, {"allAckInSyncStateSet", B},
    {"enableAutoInSyncReplicas", B}, {"haFlowControlEnable", B}, {"maxHaTransferByteInSecond", I},
    {"haMaxTimeSlaveNotCatchup", I}, {"syncMasterFlushOffsetWhenStartup", B}, {"fileReservedTime", I},
    {"deleteWhen", S}, {"diskMaxUsedSpaceRatio", I}, {"diskSpaceWarningLevelRatio", I},
    {"diskSpaceCleanForciblyRatio", I}, {"cleanFileForciblyEnable", B}, {"cleanResourceInterval", I},
    {"deleteCommitLogFilesInterval", I}, {"deleteConsumeQueueFilesInterval", I}, {"deleteFileBatchMax", I},
    {"destroyMapedFileIntervalForcibly", I}, {"redeleteHangedFileInterval", I},
    {"maxTransferBytesOnMessageInMemory", I}, {"maxTransferCountOnMessageInMemory", I},
    {"maxTransferBytesOnMessageInDisk", I}, {"maxTransferCountOnMessageInDisk", I},
    {"accessMessageInMemoryMaxRatio", I}, {"maxFilterMessageSize", I}, {"pullBatchMaxMessageCount", I},
    {"travelCqFileNumWhenGetMessage", I}, {"messageIndexEnable", B}, {"messageIndexSafe", B}, {"maxHashSlotNum", I},
    {"maxIndexNum", I}, {"maxMsgsNumBatch", I}, {"defaultQueryMaxNum", I}, {"messageDelayLevel", S},
    {"flushDelayOffsetInterval", I}, {"enableScheduleMessageStats", B}, {"enableScheduleAsyncDeliver", B},
    {"scheduleAsyncDeliverMaxPendingLimit", I}, {"scheduleAsyncDeliverMaxResendNum2Blocked", I},
    {"timerWheelEnable", B}, {"timerPrecisionMs", I}, {"timerMaxDelaySec", I}, {"timerRollWindowSlot", I},
    {"timerFlushIntervalMs", I}, {"timerGetMessageThreadNum", I}, {"timerPutMessageThreadNum", I},
    {"timerEnableDisruptor", B}, {"timerCongestNumEachSlot", I}, {"timerInterceptDelayLevel", B},
    {"timerStopEnqueue", B}, {"timerStopDequeue", B}, {"timerEnableRetryUntilSuccess", B},
    {"timerSkipUnknownError", B}, {"timerEnableCheckMetrics", B}, {"timerCheckMetricsWhen", S},
    {"mappedFileSizeTimerLog", I}, {"osPageCacheBusyTimeOutMills", I}, {"transientStorePoolEnable", B},
    {"transientStorePoolSize", I}, {"fastFailIfNoBufferInStorePool", B}, {"warmMapedFileEnable", B},
    {"flushLeastPagesWhenWarmMapedFile", I}, {"checkCRCOnRecover", B}, {"enabledAppendPropCRC", B},
    {"forceVerifyPropCRC", B}, {"duplicationEnable", B}, {"offsetCheckInSlave", B}, {"enableLmq", B},
    {"enableMultiDispatch", B}, {"maxLmqConsumeQueueNum", I}, {"enableCompaction", B}, {"compactionMappedFileSize", I},
    {"compactionCqMappedFileSize", I}, {"compactionScheduleInternal", I}, {"compactionThreadNum", I},
    {"enableDLegerCommitLog", B, K::Promise}, {"dLegerGroup", S}, {"dLegerPeers", S}, {"dLegerSelfId", S},
    {"preferredLeaderId", S}, {"enableBuildConsumeQueueConcurrently", B}, {"batchDispatchRequestThreadPoolNums", I},
    {"topicQueueLockNum", I}, {"maxAsyncPutMessageRequests", I}, {"maxRecoveryCommitlogFiles", I},
    {"readUnCommitted", B}, {"putConsumeQueueDataByFileChannel", B}, {"coldDataFlowControlEnable", B},
    {"coldDataScanEnable", B}, {"dataReadAheadEnable", B}, {"rocksdbCQDoubleWriteEnable", B},
    {"realTimePersistRocksDBConfig", B}, {"memTableFlushIntervalMs", I}, {"enableRocksDBLog", B},
    {"combineCQLoadingCQTypes", S}, {"combineCQPreferCQType", S}, {"combineAssignOffsetCQType", S},
    {"mappedFileSwapEnable", B}, {"commitLogSwapMapInterval", I}, {"logicQueueSwapMapInterval", I}, {"useABSLock", B},
    {"spinLockCollisionRetreatOptimalDegree", I}, {"maxConsumeQueueScan", I}, {"sampleCountThreshold", I},
    {"sampleSteps", I},
    // Name server
    {"kvConfigPath", S, K::Path}, {"configStorePath", S, K::Path}, {"productEnvName", S}, {"clusterTest", B},
    {"orderMessageEnable", B}, {"returnOrderTopicConfigToBroker", B}, {"clientRequestThreadPoolNums", I},
    {"clientRequestThreadPoolQueueCapacity", I}, {"defaultThreadPoolNums", I}, {"defaultThreadPoolQueueCapacity", I},
    {"scanNotActiveBrokerInterval", I}, {"unRegisterBrokerQueueCapacity", I}, {"supportActingMaster", B},
    {"enableAllTopicList", B}, {"enableTopicList", B}, {"notifyMinBrokerIdChanged", B}, {"needWaitForService", B},
    {"waitSecondsForService", I}, {"deleteTopicWithBrokerRegistration", B}, {"enableControllerInNamesrv", B},
    // Remoting server and client (both processes)
    {"serverWorkerThreads", I}, {"serverSelectorThreads", I}, {"serverCallbackExecutorThreads", I},
    {"serverOnewaySemaphoreValue", I}, {"serverAsyncSemaphoreValue", I}, {"serverChannelMaxIdleTimeSeconds", I},
    {"serverSocketSndBufSize", I}, {"serverSocketRcvBufSize", I}, {"serverSocketBacklog", I},
    {"writeBufferHighWaterMark", I}, {"writeBufferLowWaterMark", I}, {"serverPooledByteBufAllocatorEnable", B},
    {"serverNettyWorkerGroupEnable", B}, {"useEpollNativeSelector", B}, {"enableShutdownGracefully", B},
    {"shutdownWaitTimeSeconds", I}, {"clientWorkerThreads", I}, {"clientCallbackExecutorThreads", I},
    {"clientOnewaySemaphoreValue", I}, {"clientAsyncSemaphoreValue", I}, {"connectTimeoutMillis", I},
    {"channelNotActiveInterval", I}, {"clientChannelMaxIdleTimeSeconds", I}, {"clientCloseSocketIfTimeout", B},
    {"enableReconnectForGoAway", B}, {"maxReconnectIntervalTimeSeconds", I}, {"useTLS", B}, {"socksProxyConfig", S},
    // Access control
    {"authenticationEnabled", B, K::Promise}, {"authenticationProvider", S}, {"authenticationMetadataProvider", S},
    {"authenticationStrategy", S}, {"authenticationWhitelist", S}, {"initAuthenticationUser", S},
    {"innerClientAuthenticationCredentials", S}, {"authorizationEnabled", B, K::Promise}, {"authorizationProvider", S},
    {"authorizationMetadataProvider", S}, {"authorizationStrategy", S}, {"authorizationWhitelist", S},
    {"migrateAuthFromV1Enabled", B}, {"userCacheMaxNum", I}, {"userCacheExpiredSecond", I},
    {"userCacheRefreshSecond", I}, {"aclCacheMaxNum", I}, {"aclCacheExpiredSecond", I}, {"aclCacheRefreshSecond", I},
    {"statefulAuthenticationCacheMaxNum", I}, {"statefulAuthenticationCacheExpiredSecond", I},
    {"statefulAuthorizationCacheMaxNum", I}, {"statefulAuthorizationCacheExpiredSecond", I},
    {"authConfigPath", S, K::Path},
    // What a broker of 5.3.3 has besides and tells of itself (code 26)
    {"cleanOfflineBrokerInterval", I}, {"commercialSizePerMsg", I}, {"isBrokerContainer", B},
    {"isInBrokerContainer", B}, {"recoverConcurrently", B}, {"recoverThreadPoolNums", I},
    {"clientPooledByteBufAllocatorEnable", B}, {"clientSocketRcvBufSize", I}, {"clientSocketSndBufSize", I},
    {"disableCallbackExecutor", B}, {"disableNettyWorkerGroup", B}, {"isScanAvailableNameSrv", B},
    {"accessMessageInMemoryHotRatio", I}, {"asyncLearner", B}, {"bottomMostCompressionTypeForConsumeQueueStore", S},
    {"cleanRocksDBDirtyCQIntervalMin", I}, {"cleanSwapedMapInterval", I}, {"commitLogForceSwapMapInterval", I},
    {"commitLogSwapMapReserveFileNum", I}, {"correctLogicMinOffsetForceInterval", I},
    {"correctLogicMinOffsetSleepInterval", I}, {"debugLockEnable", B}, {"disappearTimeAfterStart", I},
    {"diskFallRecorded", B}, {"dispatchCqCacheNum", I}, {"dispatchCqThreads", I}, {"dispatchFromSenderThread", B},
    {"enableAsyncReput", B}, {"enableBatchPush", B}, {"enableCleanExpiredOffset", B},
    {"logicQueueForceSwapMapInterval", I}, {"logicQueueSwapMapReserveFileNum", I},
    {"logicalDiskSpaceCleanForciblyThreshold", N}, {"maxBatchDeleteFilesNum", I}, {"maxChecksumRange", I},
    {"maxOffsetMapSize", I}, {"maxSlaveResendLength", I}, {"putMsgIndexHightWater", I},
    {"recheckReputOffsetFromCq", B}, {"replicasPerDiskPartition", I}, {"rocksdbCompressionType", S},
    {"rocksdbFlushWalFrequency", I}, {"rocksdbWalFileRollingThreshold", I}, {"searchBcqByCacheEnable", B},
    {"statRocksDBCQIntervalSec", I}, {"syncFromLastFile", B}, {"timerColdDataCheckIntervalMs", I},
    {"timerMetricSmallThreshold", I}, {"timerProgressLogIntervalMs", I}, {"timerWarmEnable", B},
    {"wakeCommitWhenPutMessage", B}, {"wakeFlushWhenPutMessage", B}, {"clusterName", S}, {"configName", S},
    // Tiered storage
    {"commitLogRollingInterval", I}, {"commitLogRollingMinimumSize", I}, {"objectStoreAccessKey", S},
    {"objectStoreBucket", S}, {"objectStoreEndpoint", S}, {"objectStoreSecretKey", S}, {"readAheadCacheEnable", B},
    {"readAheadCacheExpireDuration", I}, {"readAheadCacheSizeThresholdRate", N}, {"readAheadMessageCountThreshold", I},
    {"readAheadMessageSizeThreshold", I}, {"recordGetMessageResult", B}, {"tieredBackendServiceProvider", S},
    {"tieredMetadataServiceProvider", S}, {"tieredStorageLevel", S}, {"tieredStoreCommitLogMaxSize", I},
    {"tieredStoreConsumeQueueMaxSize", I}, {"tieredStoreCrcCheckEnable", B}, {"tieredStoreDeleteFileEnable", B},
    {"tieredStoreDeleteFileInterval", I}, {"tieredStoreFilePath", S, K::Path}, {"tieredStoreFileReservedTime", I},
    {"tieredStoreGroupCommit", B}, {"tieredStoreGroupCommitCount", I}, {"tieredStoreGroupCommitSize", I},
    {"tieredStoreGroupCommitTimeout", I}, {"tieredStoreIndexFileMaxHashSlotNum", I},
    {"tieredStoreIndexFileMaxIndexNum", I}, {"tieredStoreMaxGroupCommitCount", I}, {"tieredStoreMaxPendingLimit", I},
    // Controller
    {"controllerDLegerGroup", S}, {"controllerDLegerPeers", S}, {"controllerDLegerSelfId", S},
    {"controllerRequestThreadPoolQueueCapacity", I}, {"controllerStorePath", S, K::Path},
    {"controllerThreadPoolNums", I}, {"controllerType", S}, {"electMasterMaxRetryCount", I},
    {"enableElectUncleanMaster", B}, {"isProcessReadEvent", B}, {"jraftConfig", S}, {"mappedFileSize", I},
    {"notifyBrokerRoleChanged", B}, {"scanInactiveMasterInterval", I},
    // Older releases and common examples
    {"mapedFileSizeCommitLog", I}, {"mapedFileSizeConsumeQueue", I}, {"haSlaveFallbehindMax", I},
    {"storePathConsumeQueue", S, K::Path}, {"storePathIndex", S, K::Path}, {"storeCheckpoint", S, K::Path},
    {"abortFile", S, K::Path}, {"storePathDLedgerCommitLog", S, K::Path}, {"storePathEpochFile", S, K::Path},
    {"storePathBrokerIdentity", S, K::Path}, {"checkTransactionMessageEnable", B}, {"messageStorePlugIn", S},
    {"highSpeedMode", B}, {"commercialEnable", B}, {"commercialTimerCount", I}, {"commercialTransCount", I},
    {"commercialBigCount", I}, {"commercialBaseCount", I}, {"filterServerNums", I}, {"filterOpThreads", I},
    {"accountOwner", S},
};

}  // namespace

std::span<const RocketmqKey> rocketmqKeys() noexcept {
    return kKeys;
}

const RocketmqKey* findRocketmqKey(std::string_view name) noexcept {
    for (const auto& key : kKeys) {
        if (key.name == name) return &key;
    }
    return nullptr;
}

}  // namespace patchbay::kernel
