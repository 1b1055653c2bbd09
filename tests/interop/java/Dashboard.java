// Makes the calls that the pages of Apache's dashboard make, against two clusters in the same state, and compares what they answer.
//   java Dashboard.java NS_A BROKER_A NS_B BROKER_B
// A is RocketMQ's. Prints "PASS page: call" or "FAIL page: call", with both answers in the same line. Times, addresses and ids are left out of them.
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;

import org.apache.rocketmq.client.consumer.DefaultMQPullConsumer;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.PullResult;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.exception.MQBrokerException;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.TopicConfig;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.remoting.protocol.body.BrokerStatsData;
import org.apache.rocketmq.remoting.protocol.body.ConsumeMessageDirectlyResult;
import org.apache.rocketmq.remoting.protocol.body.ConsumerConnection;
import org.apache.rocketmq.remoting.protocol.body.ConsumerRunningInfo;
import org.apache.rocketmq.remoting.protocol.subscription.SubscriptionGroupConfig;
import org.apache.rocketmq.tools.admin.DefaultMQAdminExt;

public class Dashboard {
    static final String TOPIC = "DashTopic", GROUP = "DashGroup", PRODUCERS = "DashProducers";
    static final int MESSAGES = 8;

    interface Call { Object on(Cluster cluster) throws Exception; }

    static class Cluster {
        final String ns, broker;
        final DefaultMQAdminExt admin;
        final DefaultMQProducer producer = new DefaultMQProducer(PRODUCERS);
        final DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(GROUP);
        final List<String> ids = new ArrayList<>();
        Collection<String> runtimeKeys = List.of();

        Cluster(String ns, String broker, String name) throws Exception {
            this.ns = ns;
            this.broker = broker;
            admin = new DefaultMQAdminExt(5000);
            admin.setNamesrvAddr(ns);
            admin.setInstanceName("dash-admin-" + name);
            admin.start();
            admin.createAndUpdateTopicConfig(broker, new TopicConfig(TOPIC, 4, 4));
            SubscriptionGroupConfig group = new SubscriptionGroupConfig();
            group.setGroupName(GROUP);
            group.setRetryMaxTimes(5);
            admin.createAndUpdateSubscriptionGroupConfig(broker, group);
            producer.setNamesrvAddr(ns);
            producer.setInstanceName("dash-p-" + name);
            producer.start();
            for (int i = 0; i < MESSAGES; i++) {
                Message message = new Message(TOPIC, "Tag" + i % 2, "key" + i, ("body " + i).getBytes(StandardCharsets.UTF_8));
                ids.add(producer.send(message, new MessageQueue(TOPIC, "broker-a", i % 4)).getMsgId());
            }
            CountDownLatch got = new CountDownLatch(MESSAGES);
            consumer.setNamesrvAddr(ns);
            consumer.setInstanceName("dash-c-" + name);
            consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
            consumer.subscribe(TOPIC, "*");
            consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
                for (MessageExt ignored : messages) got.countDown();
                return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
            });
            consumer.start();
            if (!got.await(60, TimeUnit.SECONDS)) throw new IllegalStateException("the messages did not come on " + ns);
            Thread.sleep(1000);   // until the last of them count as consumed
            consumer.getDefaultMQPushConsumerImpl().persistConsumerOffset();
        }
        String clientId() { return consumer.buildMQClientId(); }
        void end() {
            consumer.shutdown();
            producer.shutdown();
            admin.shutdown();
        }
    }

    static boolean ours(String name) { return name.replaceFirst("^%(RETRY|DLQ)%", "").startsWith("Dash"); }
    /** RocketMQ tells of a group that is named as the topic; nobody made it. */
    static Object groups(Collection<String> all) { return names(all.stream().filter(g -> !g.equals(TOPIC)).collect(Collectors.toList())); }
    static Object names(Collection<String> all) { return all.stream().filter(Dashboard::ours).collect(Collectors.toCollection(TreeSet::new)); }
    /** Without the retry queue, which a consumer gets sooner or later. */
    static <V> Object queues(Map<MessageQueue, V> table, Function<V, Object> text) {
        Map<String, Object> sorted = new TreeMap<>();
        table.forEach((queue, value) -> {
            if (queue.getTopic().equals(TOPIC)) sorted.put(queue.getQueueId() + "", text.apply(value));
        });
        return sorted;
    }
    static String text(MessageExt m) {
        return m.getTopic() + " " + m.getQueueId() + " " + m.getQueueOffset() + " " + m.getTags() + " " + m.getKeys() + " " + new String(m.getBody(), StandardCharsets.UTF_8) + " " +
            m.getReconsumeTimes();
    }
    static MessageExt message(Cluster c, int i) throws Exception { return c.admin.viewMessage(TOPIC, c.ids.get(i)); }

    static String run(Cluster cluster, Call call) {
        try {
            return String.valueOf(call.on(cluster));
        } catch (MQClientException e) {
            return "MQClientException " + (e.getResponseCode() == -1 ? e.getErrorMessage() : e.getResponseCode());
        } catch (MQBrokerException e) {
            return "MQBrokerException " + e.getResponseCode() + " " + e.getErrorMessage();
        } catch (Throwable e) {
            return e.toString();
        }
    }

    /** Until there is such a figure: samples are 10 s apart. */
    static Object stats(Cluster c, String name, String key) throws Exception {
        for (int i = 0; ; i++) {
            try {
                BrokerStatsData data = c.admin.viewBrokerStatsData(c.broker, name, key);
                return data.getStatsMinute() != null && data.getStatsHour() != null && data.getStatsDay() != null ? "a minute, an hour, a day" : "less";
            } catch (MQClientException e) {
                if (i == 30) throw e;
                Thread.sleep(500);
            }
        }
    }

    static Object pulled(Cluster c) throws Exception {
        DefaultMQPullConsumer reader = new DefaultMQPullConsumer("TOOLS_CONSUMER");
        reader.setNamesrvAddr(c.ns);
        reader.setInstanceName("dash-r-" + c.broker.hashCode());
        reader.start();
        try {
            List<String> all = new ArrayList<>();
            for (MessageQueue queue : new TreeSet<>(reader.fetchSubscribeMessageQueues(TOPIC))) {
                long min = reader.searchOffset(queue, 0), max = reader.searchOffset(queue, System.currentTimeMillis() + 60_000);
                all.add(queue.getQueueId() + ": " + min + " " + max + " " + reader.minOffset(queue) + " " + reader.maxOffset(queue));
                PullResult result = reader.pull(queue, "*", min, 32);
                if (result.getMsgFoundList() != null) for (MessageExt m : result.getMsgFoundList()) all.add(text(m));
            }
            return all;
        } finally {
            reader.shutdown();
        }
    }

    static Map<String, Call> calls() {
        Map<String, Call> calls = new LinkedHashMap<>();
        calls.put("cluster: examineBrokerClusterInfo", c -> c.admin.examineBrokerClusterInfo().getClusterAddrTable() + " " +
            c.admin.examineBrokerClusterInfo().getBrokerAddrTable().get("broker-a").getBrokerAddrs().keySet());
        calls.put("cluster: fetchBrokerRuntimeStats, keys", c -> {
            c.runtimeKeys = c.admin.fetchBrokerRuntimeStats(c.broker).getTable().keySet().stream()
                .filter(k -> !k.startsWith("commitLogDiskRatio_") && !k.startsWith("scheduleMessageOffset_"))   // of directories, and of levels with messages
                .collect(Collectors.toCollection(TreeSet::new));
            return c.runtimeKeys;
        });
        calls.put("cluster: getBrokerConfig", c -> c.admin.getBrokerConfig(c.broker).getProperty("brokerName"));
        calls.put("charts: getTotalTps is a number first", c ->
            Double.parseDouble(c.admin.fetchBrokerRuntimeStats(c.broker).getTable().get("getTotalTps").split(" ")[0]) >= 0);
        for (String[] figure : new String[][] {{"TOPIC_PUT_NUMS", TOPIC}, {"TOPIC_PUT_SIZE", TOPIC}, {"GROUP_GET_NUMS", TOPIC + "@" + GROUP},
            {"GROUP_GET_SIZE", TOPIC + "@" + GROUP}, {"GROUP_GET_LATENCY", "0@" + TOPIC + "@" + GROUP}, {"TOPIC_PUT_LATENCY", "0@" + TOPIC}, {"BROKER_PUT_NUMS", "DefaultCluster"}, {"BROKER_GET_NUMS", "DefaultCluster"},
            {"BROKER_PUT_NUMS_WITHOUT_SYSTEM_TOPIC", "DefaultCluster"}, {"BROKER_GET_NUMS_WITHOUT_SYSTEM_TOPIC", "DefaultCluster"}}) {
            calls.put("charts: viewBrokerStatsData " + figure[0], c -> stats(c, figure[0], figure[1]));
        }
        calls.put("charts: viewBrokerStatsData of nothing", c -> c.admin.viewBrokerStatsData(c.broker, "TOPIC_PUT_NUMS", "DashNothing"));
        calls.put("topics: fetchAllTopicList", c -> names(c.admin.fetchAllTopicList().getTopicList()));
        calls.put("topics: getAllTopicConfig", c -> names(c.admin.getAllTopicConfig(c.broker, 5000).getTopicConfigTable().keySet()));
        calls.put("topics: examineTopicStats", c -> queues(c.admin.examineTopicStats(TOPIC).getOffsetTable(), o -> o.getMinOffset() + "-" + o.getMaxOffset()));
        calls.put("topics: examineTopicStats of nothing", c -> c.admin.examineTopicStats("DashNothing"));
        calls.put("topics: examineTopicRouteInfo", c -> c.admin.examineTopicRouteInfo(TOPIC).getQueueDatas());
        calls.put("topics: examineTopicConfig", c -> c.admin.examineTopicConfig(c.broker, TOPIC));
        calls.put("topics: getTopicClusterList", c -> c.admin.getTopicClusterList(TOPIC));
        calls.put("topics: queryTopicConsumeByWho", c -> groups(c.admin.queryTopicConsumeByWho(TOPIC).getGroupList()));
        calls.put("topics: send", c -> c.producer.send(new Message(TOPIC, "Sent", "sent", "sent".getBytes(StandardCharsets.UTF_8)), new MessageQueue(TOPIC, "broker-a", 3))
            .getQueueOffset());
        calls.put("consumers: getAllSubscriptionGroup", c -> names(c.admin.getAllSubscriptionGroup(c.broker, 8000).getSubscriptionGroupTable().keySet()));
        calls.put("consumers: examineSubscriptionGroupConfig", c -> c.admin.examineSubscriptionGroupConfig(c.broker, GROUP));
        calls.put("consumers: examineConsumeStats", c -> queues(c.admin.examineConsumeStats(GROUP, TOPIC).getOffsetTable(), o -> o.getBrokerOffset()));
        calls.put("consumers: examineConsumeStats of nobody", c -> c.admin.examineConsumeStats("DashNobody"));
        calls.put("consumers: examineConsumerConnectionInfo", c -> {
            ConsumerConnection all = c.admin.examineConsumerConnectionInfo(GROUP);
            return all.getConnectionSet().stream().map(o -> o.getLanguage() + " " + o.getVersion()).collect(Collectors.toList()) + " " +
                new TreeSet<>(all.getSubscriptionTable().keySet()) + " " + all.getConsumeType() + " " + all.getMessageModel() + " " + all.getConsumeFromWhere();
        });
        calls.put("consumers: examineConsumerConnectionInfo of nobody", c -> c.admin.examineConsumerConnectionInfo("DashNobody"));
        calls.put("consumers: getConsumerRunningInfo", c -> {
            ConsumerRunningInfo info = c.admin.getConsumerRunningInfo(GROUP, c.clientId(), false);
            return info.getSubscriptionSet().stream().map(o -> o.getTopic()).collect(Collectors.toCollection(TreeSet::new)) + " " + queues(info.getMqTable(), o -> "");
        });
        calls.put("consumers: getConsumeStatus", c -> c.admin.getConsumeStatus(TOPIC, GROUP, c.clientId()).values().stream()
            .map(o -> queues(o, v -> "")).collect(Collectors.toList()));
        calls.put("consumers: queryConsumeTimeSpan", c -> c.admin.queryConsumeTimeSpan(TOPIC, GROUP).stream()
            .map(o -> o.getMessageQueue().getQueueId()).collect(Collectors.toCollection(TreeSet::new)));
        calls.put("consumers: fetchConsumeStatsInBroker", c -> c.admin.fetchConsumeStatsInBroker(c.broker, false, 5000).getConsumeStatsList().stream()
            .flatMap(o -> o.keySet().stream()).filter(Dashboard::ours).collect(Collectors.toCollection(TreeSet::new)));
        calls.put("producers: examineProducerConnectionInfo", c -> c.admin.examineProducerConnectionInfo(PRODUCERS, TOPIC).getConnectionSet().stream()
            .map(o -> o.getLanguage() + " " + o.getVersion()).collect(Collectors.toList()));
        calls.put("producers: examineProducerConnectionInfo of nobody", c -> c.admin.examineProducerConnectionInfo("DashNobody", TOPIC).getConnectionSet());
        calls.put("messages: queryMessage by key", c -> c.admin.queryMessage(TOPIC, "key3", 64, 0, System.currentTimeMillis() + 60_000).getMessageList().stream()
            .map(Dashboard::text).collect(Collectors.toList()));
        calls.put("messages: queryMessage of no key", c -> c.admin.queryMessage(TOPIC, "nokey", 64, 0, System.currentTimeMillis()).getMessageList());
        calls.put("messages: viewMessage", c -> text(message(c, 5)));
        calls.put("messages: viewMessage of no id", c -> c.admin.viewMessage(TOPIC, "00000000000000000000000000000000"));
        calls.put("messages: pull by time", Dashboard::pulled);
        calls.put("messages: messageTrackDetail", c -> c.admin.messageTrackDetail(message(c, 2)).stream()
            .filter(o -> !o.getConsumerGroup().equals(TOPIC)).map(o -> o.getConsumerGroup() + " " + o.getTrackType()).collect(Collectors.toList()));
        calls.put("messages: consumeMessageDirectly", c -> {
            ConsumeMessageDirectlyResult result = c.admin.consumeMessageDirectly(GROUP, c.clientId(), TOPIC, c.ids.get(1));
            return result.getConsumeResult() + " " + result.isOrder() + " " + result.isAutoCommit();
        });
        calls.put("messages: consumeMessageDirectly of nobody", c -> c.admin.consumeMessageDirectly(GROUP, "nobody", TOPIC, c.ids.get(1)));
        calls.put("traces: queryMessage of the trace topic", c -> c.admin.queryMessage("RMQ_SYS_TRACE_TOPIC", c.ids.get(0), 64, 0, System.currentTimeMillis()).getMessageList());
        calls.put("consumers: resetOffsetByTimestamp", c -> queues(c.admin.resetOffsetByTimestamp(TOPIC, GROUP, 0, true), o -> o));
        calls.put("consumers: resetOffsetByTimestamp, skip", c -> queues(c.admin.resetOffsetByTimestamp(TOPIC, GROUP, -1, true), o -> o));
        calls.put("consumers: deleteSubscriptionGroup", c -> {
            c.consumer.shutdown();
            c.admin.deleteSubscriptionGroup(c.broker, GROUP, true);
            return names(c.admin.getAllSubscriptionGroup(c.broker, 8000).getSubscriptionGroupTable().keySet());
        });
        calls.put("topics: deleteTopicInBroker, …InNameServer", c -> {
            c.admin.deleteTopicInBroker(java.util.Set.of(c.broker), TOPIC);
            c.admin.deleteTopicInNameServer(java.util.Set.of(c.ns), TOPIC);
            return c.admin.fetchAllTopicList().getTopicList().contains(TOPIC);
        });
        return calls;
    }

    public static void main(String[] args) throws Exception {
        Cluster java = new Cluster(args[0], args[1], "a"), patchbay = new Cluster(args[2], args[3], "b");
        int bad = 0;
        for (Map.Entry<String, Call> one : calls().entrySet()) {
            String a = run(java, one.getValue()), b = run(patchbay, one.getValue());
            // More keys than RocketMQ has are welcome.
            if (one.getKey().endsWith(", keys")) {
                patchbay.runtimeKeys.retainAll(java.runtimeKeys);
                b = patchbay.runtimeKeys.toString();
            }
            boolean same = a.equals(b);
            if (!same) bad++;
            System.out.println((same ? "PASS " : "FAIL ") + one.getKey() + (same ? "" : "; java: " + a + "; ours: " + b).replace('\n', ' '));
        }
        java.end();
        patchbay.end();
        System.exit(bad == 0 ? 0 : 1);
    }
}
