#include "config/RocketmqKeys.h"

namespace patchbay::kernel {

namespace {

using K = RocketmqKey::Kind;

constexpr RocketmqKey kKeys[] = {
    // Broker: identity, network, registration
    {"brokerClusterName"}, {"brokerName"}, {"brokerId"}, {"brokerIP1"}, {"brokerIP2"}, {"listenPort"},
    {"haListenPort"}, {"bindAddress"}, {"namesrvAddr"}, {"fetchNamesrvAddrByAddressServer"},
    {"fetchNameSrvAddrByDnsLookup"}, {"fetchNamesrvAddrInterval"}, {"updateNameServerAddrPeriod"},
    {"registerNameServerPeriod"}, {"registerBrokerTimeoutMills"}, {"forceRegister"}, {"compressedRegister"},
    {"enableSplitRegistration"}, {"splitRegistrationSize"}, {"enableSingleTopicRegister"},
    {"brokerHeartbeatInterval"}, {"sendHeartbeatTimeoutMillis"}, {"brokerNotActiveTimeoutMillis"},
    {"compatibleWithOldNameSrv"}, {"enableSlaveActingMaster"}, {"enableRemoteEscape"}, {"skipPreOnline"},
    {"syncBrokerMemberGroupPeriod"}, {"lockInStrictMode"}, {"brokerPermission"}, {"rocketmqHome", K::Path},
    {"brokerConfigPath", K::Path}, {"configBlackList"}, {"isolateLogEnable"}, {"startAcceptSendRequestTimeStamp"},
    // Broker: topics, groups, sending
    {"autoCreateTopicEnable"}, {"defaultTopicQueueNums"}, {"clusterTopicEnable"}, {"brokerTopicEnable"},
    {"autoCreateSubscriptionGroup"}, {"enableCreateSysGroup"}, {"traceTopicEnable"}, {"msgTraceTopicName"},
    {"traceOn"}, {"regionId"}, {"rejectTransactionMessage"}, {"storeReplyMessageEnable"},
    {"validateSystemTopicWhenUpdateTopic"}, {"enableMixedMessageType"}, {"recallMessageEnable"},
    {"allowRecallWhenBrokerNotWriteable"}, {"enableRegisterProducer"}, {"asyncSendEnable"},
    {"clearRetryTopicWhenDeleteTopic"}, {"transferMsgByHeap"}, {"aclEnable", K::Promise}, {"configManagerVersion"},
    {"consumerOffsetUpdateVersionStep"}, {"delayOffsetUpdateVersionStep"},
    // Broker: pulling, consumers, filters
    {"longPollingEnable"}, {"shortPollingTimeMills"}, {"litePullMessageEnable"}, {"slaveReadEnable"},
    {"disableConsumeIfConsumerReadSlowly"}, {"consumerFallbehindThreshold"}, {"rejectPullConsumerEnable"},
    {"notifyConsumerIdsChangedEnable"}, {"realTimeNotifyConsumerChange"}, {"channelExpiredTimeout"},
    {"subscriptionExpiredTimeout"}, {"enablePropertyFilter"}, {"filterSupportRetry"}, {"enableCalcFilterBitMap"},
    {"expectConsumerNumUseFilter"}, {"maxErrorRateOfBloomFilter"}, {"filterDataCleanTimeSpan"},
    {"flushConsumerOffsetInterval"}, {"flushConsumerOffsetHistoryInterval"}, {"enableBroadcastOffsetStore"},
    {"broadcastOffsetExpireSecond"}, {"broadcastOffsetExpireMaxSecond"}, {"useServerSideResetOffset"},
    {"useStaticSubscription"}, {"serverLoadBalancerEnable"}, {"defaultMessageRequestMode"},
    {"defaultPopShareQueueNum"}, {"loadBalancePollNameServerInterval"}, {"enableNetWorkFlowControl"},
    {"cgColdReadThreshold"}, {"globalColdReadThreshold"}, {"coldCtrStrategyEnable"}, {"usePIDColdCtrStrategy"},
    {"forwardTimeout"}, {"enableDetailStat"}, {"autoDeleteUnusedStats"}, {"maxStatsIdleTimeInMinutes"},
    {"accountStatsEnable"}, {"accountStatsPrintZeroValues"},
    // Broker: thread pools, queues, flow control
    {"sendMessageThreadPoolNums"}, {"sendThreadPoolQueueCapacity"}, {"putMessageFutureThreadPoolNums"},
    {"putThreadPoolQueueCapacity"}, {"pullMessageThreadPoolNums"}, {"pullThreadPoolQueueCapacity"},
    {"litePullMessageThreadPoolNums"}, {"litePullThreadPoolQueueCapacity"}, {"ackMessageThreadPoolNums"},
    {"ackThreadPoolQueueCapacity"}, {"processReplyMessageThreadPoolNums"}, {"replyThreadPoolQueueCapacity"},
    {"queryMessageThreadPoolNums"}, {"queryThreadPoolQueueCapacity"}, {"adminBrokerThreadPoolNums"},
    {"adminBrokerThreadPoolQueueCapacity"}, {"clientManageThreadPoolNums"}, {"clientManagerThreadPoolQueueCapacity"},
    {"consumerManageThreadPoolNums"}, {"consumerManagerThreadPoolQueueCapacity"}, {"heartbeatThreadPoolNums"},
    {"heartbeatThreadPoolQueueCapacity"}, {"endTransactionThreadPoolNums"}, {"endTransactionPoolQueueCapacity"},
    {"loadBalanceProcessorThreadPoolNums"}, {"loadBalanceThreadPoolQueueCapacity"}, {"brokerFastFailureEnable"},
    {"waitTimeMillsInSendQueue"}, {"waitTimeMillsInPullQueue"}, {"waitTimeMillsInLitePullQueue"},
    {"waitTimeMillsInHeartbeatQueue"}, {"waitTimeMillsInTransactionQueue"}, {"waitTimeMillsInAckQueue"},
    {"waitTimeMillsInAdminBrokerQueue"}, {"useReentrantLockWhenPutMessage"},
    // Broker: transactions, pop, metrics
    {"transactionTimeOut"}, {"transactionCheckMax"}, {"transactionCheckInterval"}, {"transactionOpMsgMaxSize"},
    {"transactionOpBatchInterval"}, {"transactionMetricFlushInterval"}, {"reviveQueueNum"}, {"reviveInterval"},
    {"reviveMaxSlow"}, {"reviveScanTime"}, {"reviveAckWaitMs"}, {"popPollingSize"}, {"popPollingMapSize"},
    {"popPollingMapExpireTimeSeconds"}, {"maxPopPollingSize"}, {"popLongPollingForceNotifyInterval"},
    {"enablePopBufferMerge"}, {"popCkStayBufferTime"}, {"popCkStayBufferTimeOut"}, {"popCkMaxBufferSize"},
    {"popCkOffsetMaxQueueSize"}, {"enablePopBatchAck"}, {"enablePopLog"}, {"enableSkipLongAwaitingAck"},
    {"enablePopMessageThreshold"}, {"popInflightMessageThreshold"}, {"enableRetryTopicV2"},
    {"retrieveMessageFromPopRetryTopicV1"}, {"popFromRetryProbability"}, {"popResponseReturnActualRetryTopic"},
    {"initPopOffsetByCheckMsgInMem"}, {"enableNotifyBeforePopCalculateLag"}, {"enableNotifyAfterPopOrderLockRelease"},
    {"popConsumerFSServiceInit"}, {"popConsumerKVServiceInit"}, {"popConsumerKVServiceEnable"},
    {"popConsumerKVServiceLog"}, {"popReviveMaxReturnSizePerRead"}, {"popReviveMaxAttemptTimes"},
    {"skipWhenCKRePutReachMaxTimes"}, {"appendAckAsync"}, {"appendCkAsync"}, {"metricsExporterType"},
    {"metricsPromExporterPort"}, {"metricsPromExporterHost"}, {"metricsLabel"}, {"metricsInDelta"},
    {"metricsOtelCardinalityLimit"}, {"metricsGrpcExporterTarget"}, {"metricsGrpcExporterHeader"},
    {"metricGrpcExporterTimeOutInMills"}, {"metricGrpcExporterIntervalInMills"},
    {"metricLoggingExporterIntervalInMills"}, {"enableRemotingMetrics"}, {"enableMessageStoreMetrics"},
    {"enablePopMetrics"}, {"enableConnectionMetrics"}, {"enableTransactionMetrics"}, {"enableStatsMetrics"},
    {"enableRequestMetrics"}, {"enableLagAndDlqMetrics"}, {"estimateAccumulation"}, {"enableSplitMetadata"},
    {"splitMetadataSize"}, {"enableLmqStats"}, {"enableFastChannelEventProcess"}, {"printChannelGroups"},
    {"printChannelGroupsMinNum"},
    // Broker: controller mode
    {"enableControllerMode", K::Promise}, {"controllerAddr"}, {"fetchControllerAddrByDnsLookup"},
    {"syncBrokerMetadataPeriod"}, {"checkSyncStateSetPeriod"}, {"syncControllerMetadataPeriod"},
    {"controllerHeartBeatTimeoutMills"}, {"brokerElectionPriority"},
    // Store
    {"storePathRootDir", K::Path}, {"storePathCommitLog", K::Path}, {"readOnlyCommitLogStorePaths", K::Path},
    {"storeType"}, {"mappedFileSizeCommitLog"}, {"mappedFileSizeConsumeQueue"}, {"mappedFileSizeConsumeQueueExt"},
    {"enableConsumeQueueExt"}, {"bitMapLengthConsumeQueueExt"}, {"mapperFileSizeBatchConsumeQueue"},
    {"maxMessageSize"}, {"maxTopicLength"}, {"autoMessageVersionOnTopicLen"}, {"flushDiskType"}, {"syncFlushTimeout"},
    {"flushIntervalCommitLog"}, {"commitIntervalCommitLog"}, {"flushCommitLogTimed"}, {"flushCommitLogLeastPages"},
    {"commitCommitLogLeastPages"}, {"flushConsumeQueueLeastPages"}, {"flushCommitLogThoroughInterval"},
    {"commitCommitLogThoroughInterval"}, {"flushConsumeQueueThoroughInterval"}, {"flushIntervalConsumeQueue"},
    {"brokerRole"}, {"slaveTimeout"}, {"putMessageTimeout"}, {"haSendHeartbeatInterval"}, {"haHousekeepingInterval"},
    {"haTransferBatchSize"}, {"haMaxGapNotInSync"}, {"haMasterAddress"}, {"totalReplicas"}, {"inSyncReplicas"},
    {"minInSyncReplicas"}, {"allAckInSyncStateSet"}, {"enableAutoInSyncReplicas"}, {"haFlowControlEnable"},
    {"maxHaTransferByteInSecond"}, {"haMaxTimeSlaveNotCatchup"}, {"syncMasterFlushOffsetWhenStartup"},
    {"fileReservedTime"}, {"deleteWhen"}, {"diskMaxUsedSpaceRatio"}, {"diskSpaceWarningLevelRatio"},
    {"diskSpaceCleanForciblyRatio"}, {"cleanFileForciblyEnable"}, {"cleanResourceInterval"},
    {"deleteCommitLogFilesInterval"}, {"deleteConsumeQueueFilesInterval"}, {"deleteFileBatchMax"},
    {"destroyMapedFileIntervalForcibly"}, {"redeleteHangedFileInterval"}, {"maxTransferBytesOnMessageInMemory"},
    {"maxTransferCountOnMessageInMemory"}, {"maxTransferBytesOnMessageInDisk"}, {"maxTransferCountOnMessageInDisk"},
    {"accessMessageInMemoryMaxRatio"}, {"maxFilterMessageSize"}, {"pullBatchMaxMessageCount"},
    {"travelCqFileNumWhenGetMessage"}, {"messageIndexEnable"}, {"messageIndexSafe"}, {"maxHashSlotNum"},
    {"maxIndexNum"}, {"maxMsgsNumBatch"}, {"defaultQueryMaxNum"}, {"messageDelayLevel"}, {"flushDelayOffsetInterval"},
    {"enableScheduleMessageStats"}, {"enableScheduleAsyncDeliver"}, {"scheduleAsyncDeliverMaxPendingLimit"},
    {"scheduleAsyncDeliverMaxResendNum2Blocked"}, {"timerWheelEnable"}, {"timerPrecisionMs"}, {"timerMaxDelaySec"},
    {"timerRollWindowSlot"}, {"timerFlushIntervalMs"}, {"timerGetMessageThreadNum"}, {"timerPutMessageThreadNum"},
    {"timerEnableDisruptor"}, {"timerCongestNumEachSlot"}, {"timerInterceptDelayLevel"}, {"timerStopEnqueue"},
    {"timerStopDequeue"}, {"timerEnableRetryUntilSuccess"}, {"timerSkipUnknownError"}, {"timerEnableCheckMetrics"},
    {"timerCheckMetricsWhen"}, {"mappedFileSizeTimerLog"}, {"osPageCacheBusyTimeOutMills"},
    {"transientStorePoolEnable"}, {"transientStorePoolSize"}, {"fastFailIfNoBufferInStorePool"},
    {"warmMapedFileEnable"}, {"flushLeastPagesWhenWarmMapedFile"}, {"checkCRCOnRecover"}, {"enabledAppendPropCRC"},
    {"forceVerifyPropCRC"}, {"duplicationEnable"}, {"offsetCheckInSlave"}, {"enableLmq"}, {"enableMultiDispatch"},
    {"maxLmqConsumeQueueNum"}, {"enableCompaction"}, {"compactionMappedFileSize"}, {"compactionCqMappedFileSize"},
    {"compactionScheduleInternal"}, {"compactionThreadNum"}, {"enableDLegerCommitLog", K::Promise}, {"dLegerGroup"},
    {"dLegerPeers"}, {"dLegerSelfId"}, {"preferredLeaderId"}, {"enableBuildConsumeQueueConcurrently"},
    {"batchDispatchRequestThreadPoolNums"}, {"topicQueueLockNum"}, {"maxAsyncPutMessageRequests"},
    {"maxRecoveryCommitlogFiles"}, {"readUnCommitted"}, {"putConsumeQueueDataByFileChannel"},
    {"coldDataFlowControlEnable"}, {"coldDataScanEnable"}, {"dataReadAheadEnable"}, {"rocksdbCQDoubleWriteEnable"},
    {"realTimePersistRocksDBConfig"}, {"memTableFlushIntervalMs"}, {"enableRocksDBLog"}, {"combineCQLoadingCQTypes"},
    {"combineCQPreferCQType"}, {"combineAssignOffsetCQType"}, {"mappedFileSwapEnable"}, {"commitLogSwapMapInterval"},
    {"logicQueueSwapMapInterval"}, {"useABSLock"}, {"spinLockCollisionRetreatOptimalDegree"}, {"maxConsumeQueueScan"},
    {"sampleCountThreshold"}, {"sampleSteps"},
    // Name server
    {"kvConfigPath", K::Path}, {"configStorePath", K::Path}, {"productEnvName"}, {"clusterTest"},
    {"orderMessageEnable"}, {"returnOrderTopicConfigToBroker"}, {"clientRequestThreadPoolNums"},
    {"clientRequestThreadPoolQueueCapacity"}, {"defaultThreadPoolNums"}, {"defaultThreadPoolQueueCapacity"},
    {"scanNotActiveBrokerInterval"}, {"unRegisterBrokerQueueCapacity"}, {"supportActingMaster"},
    {"enableAllTopicList"}, {"enableTopicList"}, {"notifyMinBrokerIdChanged"}, {"needWaitForService"},
    {"waitSecondsForService"}, {"deleteTopicWithBrokerRegistration"}, {"enableControllerInNamesrv"},
    // Remoting server and client (both processes)
    {"serverWorkerThreads"}, {"serverSelectorThreads"}, {"serverCallbackExecutorThreads"},
    {"serverOnewaySemaphoreValue"}, {"serverAsyncSemaphoreValue"}, {"serverChannelMaxIdleTimeSeconds"},
    {"serverSocketSndBufSize"}, {"serverSocketRcvBufSize"}, {"serverSocketBacklog"}, {"writeBufferHighWaterMark"},
    {"writeBufferLowWaterMark"}, {"serverPooledByteBufAllocatorEnable"}, {"serverNettyWorkerGroupEnable"},
    {"useEpollNativeSelector"}, {"enableShutdownGracefully"}, {"shutdownWaitTimeSeconds"}, {"clientWorkerThreads"},
    {"clientCallbackExecutorThreads"}, {"clientOnewaySemaphoreValue"}, {"clientAsyncSemaphoreValue"},
    {"connectTimeoutMillis"}, {"channelNotActiveInterval"}, {"clientChannelMaxIdleTimeSeconds"},
    {"clientCloseSocketIfTimeout"}, {"enableReconnectForGoAway"}, {"maxReconnectIntervalTimeSeconds"}, {"useTLS"},
    {"socksProxyConfig"},
    // Access control
    {"authenticationEnabled", K::Promise}, {"authenticationProvider"}, {"authenticationMetadataProvider"},
    {"authenticationStrategy"}, {"authenticationWhitelist"}, {"initAuthenticationUser"},
    {"innerClientAuthenticationCredentials"}, {"authorizationEnabled", K::Promise}, {"authorizationProvider"},
    {"authorizationMetadataProvider"}, {"authorizationStrategy"}, {"authorizationWhitelist"},
    {"migrateAuthFromV1Enabled"}, {"userCacheMaxNum"}, {"userCacheExpiredSecond"}, {"userCacheRefreshSecond"},
    {"aclCacheMaxNum"}, {"aclCacheExpiredSecond"}, {"aclCacheRefreshSecond"}, {"statefulAuthenticationCacheMaxNum"},
    {"statefulAuthenticationCacheExpiredSecond"}, {"statefulAuthorizationCacheMaxNum"},
    {"statefulAuthorizationCacheExpiredSecond"}, {"authConfigPath", K::Path},
    // What a broker of 5.3.3 has besides and tells of itself (code 26)
    {"cleanOfflineBrokerInterval"}, {"commercialSizePerMsg"}, {"isBrokerContainer"}, {"isInBrokerContainer"},
    {"recoverConcurrently"}, {"recoverThreadPoolNums"}, {"clientPooledByteBufAllocatorEnable"},
    {"clientSocketRcvBufSize"}, {"clientSocketSndBufSize"}, {"disableCallbackExecutor"}, {"disableNettyWorkerGroup"},
    {"isScanAvailableNameSrv"}, {"accessMessageInMemoryHotRatio"}, {"asyncLearner"},
    {"bottomMostCompressionTypeForConsumeQueueStore"}, {"cleanRocksDBDirtyCQIntervalMin"}, {"cleanSwapedMapInterval"},
    {"commitLogForceSwapMapInterval"}, {"commitLogSwapMapReserveFileNum"}, {"correctLogicMinOffsetForceInterval"},
    {"correctLogicMinOffsetSleepInterval"}, {"debugLockEnable"}, {"disappearTimeAfterStart"}, {"diskFallRecorded"},
    {"dispatchCqCacheNum"},
    {"dispatchCqThreads"}, {"dispatchFromSenderThread"}, {"enableAsyncReput"}, {"enableBatchPush"},
    {"enableCleanExpiredOffset"}, {"logicQueueForceSwapMapInterval"}, {"logicQueueSwapMapReserveFileNum"},
    {"logicalDiskSpaceCleanForciblyThreshold"}, {"maxBatchDeleteFilesNum"}, {"maxChecksumRange"}, {"maxOffsetMapSize"},
    {"maxSlaveResendLength"}, {"putMsgIndexHightWater"}, {"recheckReputOffsetFromCq"}, {"replicasPerDiskPartition"},
    {"rocksdbCompressionType"}, {"rocksdbFlushWalFrequency"}, {"rocksdbWalFileRollingThreshold"},
    {"searchBcqByCacheEnable"}, {"statRocksDBCQIntervalSec"}, {"syncFromLastFile"}, {"timerColdDataCheckIntervalMs"},
    {"timerMetricSmallThreshold"}, {"timerProgressLogIntervalMs"}, {"timerWarmEnable"}, {"wakeCommitWhenPutMessage"},
    {"wakeFlushWhenPutMessage"}, {"clusterName"}, {"configName"},
    // Tiered storage
    {"commitLogRollingInterval"}, {"commitLogRollingMinimumSize"}, {"objectStoreAccessKey"}, {"objectStoreBucket"},
    {"objectStoreEndpoint"}, {"objectStoreSecretKey"}, {"readAheadCacheEnable"}, {"readAheadCacheExpireDuration"},
    {"readAheadCacheSizeThresholdRate"}, {"readAheadMessageCountThreshold"}, {"readAheadMessageSizeThreshold"},
    {"recordGetMessageResult"}, {"tieredBackendServiceProvider"}, {"tieredMetadataServiceProvider"},
    {"tieredStorageLevel"}, {"tieredStoreCommitLogMaxSize"}, {"tieredStoreConsumeQueueMaxSize"},
    {"tieredStoreCrcCheckEnable"}, {"tieredStoreDeleteFileEnable"}, {"tieredStoreDeleteFileInterval"},
    {"tieredStoreFilePath", K::Path}, {"tieredStoreFileReservedTime"}, {"tieredStoreGroupCommit"},
    {"tieredStoreGroupCommitCount"}, {"tieredStoreGroupCommitSize"}, {"tieredStoreGroupCommitTimeout"},
    {"tieredStoreIndexFileMaxHashSlotNum"}, {"tieredStoreIndexFileMaxIndexNum"}, {"tieredStoreMaxGroupCommitCount"},
    {"tieredStoreMaxPendingLimit"},
    // Controller
    {"controllerDLegerGroup"}, {"controllerDLegerPeers"}, {"controllerDLegerSelfId"},
    {"controllerRequestThreadPoolQueueCapacity"}, {"controllerStorePath", K::Path}, {"controllerThreadPoolNums"},
    {"controllerType"}, {"electMasterMaxRetryCount"}, {"enableElectUncleanMaster"}, {"isProcessReadEvent"},
    {"jraftConfig"}, {"mappedFileSize"}, {"notifyBrokerRoleChanged"}, {"scanInactiveMasterInterval"},
    // Older releases and common examples
    {"mapedFileSizeCommitLog"}, {"mapedFileSizeConsumeQueue"}, {"haSlaveFallbehindMax"},
    {"storePathConsumeQueue", K::Path}, {"storePathIndex", K::Path}, {"storeCheckpoint", K::Path},
    {"abortFile", K::Path}, {"storePathDLedgerCommitLog", K::Path}, {"storePathEpochFile", K::Path},
    {"storePathBrokerIdentity", K::Path}, {"checkTransactionMessageEnable"}, {"messageStorePlugIn"},
    {"highSpeedMode"}, {"commercialEnable"}, {"commercialTimerCount"}, {"commercialTransCount"},
    {"commercialBigCount"}, {"commercialBaseCount"}, {"filterServerNums"}, {"filterOpThreads"}, {"accountOwner"},
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
