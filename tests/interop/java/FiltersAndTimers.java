import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.MessageSelector;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;

/**
 * FiltersAndTimers filter|timers|schedule|collect NAMESRV TOPIC, against a broker with recallMessageEnable=true. Prints "ok ..." and
 * ends with 0 when all is as it should be.
 *   filter    SQL92: what matches comes, the rest does not; a bad expression is refused when the consumer starts
 *   timers    delay levels and times come, none early, what was recalled does not; a second recall of a delivered one is refused
 *   schedule  only sends what is due in some seconds (then the broker may be killed) and recalls one
 *   collect   waits for what "schedule" sent
 */
public final class FiltersAndTimers {
    private static final Map<String, Long> arrived = new ConcurrentHashMap<>();

    public static void main(String[] args) throws Exception {
        String mode = args[0], namesrv = args[1], topic = args[2];
        String problem;
        switch (mode) {
            case "filter": problem = filter(namesrv, topic); break;
            case "timers": problem = timers(namesrv, topic); break;
            case "schedule": problem = schedule(namesrv, topic); break;
            default: problem = collect(namesrv, topic); break;
        }
        System.out.println(problem == null ? "ok " + mode : "bad " + mode + ": " + problem);
        Runtime.getRuntime().halt(problem == null ? 0 : 1);
    }

    private static DefaultMQProducer producer(String namesrv) throws Exception {
        DefaultMQProducer producer = new DefaultMQProducer("interop-timers");
        producer.setNamesrvAddr(namesrv);
        producer.setClientIP("127.0.0.1");
        producer.setPollNameServerInterval(1000);
        producer.setSendMsgTimeout(10_000);
        producer.setMqClientApiTimeout(10_000);
        producer.start();
        return producer;
    }

    private static DefaultMQPushConsumer consumer(String namesrv, String group) {
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(group);
        consumer.setNamesrvAddr(namesrv);
        consumer.setClientIP("127.0.0.1");
        consumer.setPollNameServerInterval(1000);
        consumer.setMqClientApiTimeout(10_000);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            for (MessageExt message : messages) arrived.putIfAbsent(message.getUserProperty("name"), System.currentTimeMillis());
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        return consumer;
    }

    private static Message message(String topic, String name) {
        Message message = new Message(topic, "tag", name, name.getBytes(StandardCharsets.UTF_8));
        message.putUserProperty("name", name);
        return message;
    }

    private static boolean await(Set<String> names, long millis) throws Exception {
        long end = System.currentTimeMillis() + millis;
        while (!arrived.keySet().containsAll(names) && System.currentTimeMillis() < end) Thread.sleep(20);
        return arrived.keySet().containsAll(names);
    }

    private static String filter(String namesrv, String topic) throws Exception {
        DefaultMQProducer producer = producer(namesrv);
        producer.send(message(topic, "first"));
        Set<String> wanted = new TreeSet<>();
        DefaultMQPushConsumer consumer = consumer(namesrv, "interop-filter");
        consumer.subscribe(topic, MessageSelector.bySql("(a > 5 AND b IN ('x', 'y''z')) OR c IS NOT NULL AND TAGS = 'tag'"));
        consumer.start();
        for (int i = 0; i < 60; i++) {
            Message message = message(topic, "m" + i);
            message.putUserProperty("a", String.valueOf(i % 10));
            message.putUserProperty("b", i % 3 == 0 ? "x" : i % 3 == 1 ? "y'z" : "z");
            if (i % 20 == 0) message.putUserProperty("c", "c");
            if ((i % 10 > 5 && i % 3 != 2) || i % 20 == 0) wanted.add("m" + i);
            producer.send(message);
        }
        if (!await(wanted, 30_000)) return "missing " + missing(wanted);
        Thread.sleep(1000);
        if (arrived.size() != wanted.size()) return "came uncalled " + arrived.keySet();
        try {
            DefaultMQPushConsumer bad = consumer(namesrv, "interop-filter-bad");
            bad.subscribe(topic, MessageSelector.bySql("a >"));
            bad.start();
            return "a bad expression was accepted";
        } catch (MQClientException e) {
            return String.valueOf(e.getMessage()).contains("Invalid MessageSelector") ? null : e.getMessage();
        }
    }

    private static Set<String> missing(Set<String> names) {
        Set<String> left = new TreeSet<>(names);
        left.removeAll(arrived.keySet());
        return left;
    }

    private static String timers(String namesrv, String topic) throws Exception {
        DefaultMQProducer producer = producer(namesrv);
        DefaultMQPushConsumer consumer = consumer(namesrv, "interop-timers");
        producer.send(message(topic, "plain"));
        consumer.subscribe(topic, "*");
        consumer.start();
        if (!await(Set.of("plain"), 30_000)) return "nothing comes at all";
        Map<String, Long> due = new ConcurrentHashMap<>();
        for (int i = 0; i < 20; i++) {
            Message level = message(topic, "level" + i), seconds = message(topic, "seconds" + i), at = message(topic, "at" + i);
            long now = System.currentTimeMillis(), then = now + 1500 + i * 101;
            level.setDelayTimeLevel(1);
            seconds.setDelayTimeSec(2);
            at.setDeliverTimeMs(then);
            due.put("level" + i, now + 1000);
            due.put("seconds" + i, now + 2000);
            due.put("at" + i, then);
            producer.send(level);
            producer.send(seconds);
            producer.send(at);
        }
        Message recalled = message(topic, "recalled");
        recalled.setDelayTimeSec(4);
        SendResult sent = producer.send(recalled);
        if (sent.getRecallHandle() == null) return "there is no handle to recall it";
        String id = producer.recallMessage(topic, sent.getRecallHandle());
        if (!sent.getMsgId().equals(id)) return "recalled " + id + ", not " + sent.getMsgId();
        if (!await(due.keySet(), 20_000)) return "missing " + missing(due.keySet());
        for (Map.Entry<String, Long> e : due.entrySet()) {
            long late = arrived.get(e.getKey()) - e.getValue();
            if (late < 0) return e.getKey() + " came " + -late + " ms early";
            if (late > 3000) return e.getKey() + " came " + late + " ms late";
        }
        Thread.sleep(3000);
        if (arrived.containsKey("recalled")) return "the recalled one came";
        try {
            producer.recallMessage(topic, sent.getRecallHandle());
            return "a recall after its time was accepted";
        } catch (Exception e) {
            return String.valueOf(e.getMessage()).contains("timestamp invalid") ? null : e.getMessage();
        }
    }

    private static String schedule(String namesrv, String topic) throws Exception {
        DefaultMQProducer producer = producer(namesrv);
        List<String> handles = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            Message message = message(topic, "s" + i);
            if (i % 2 == 0) message.setDelayTimeLevel(2); else message.setDelayTimeMs(4000 + i * 50);
            handles.add(producer.send(message).getRecallHandle());
        }
        producer.recallMessage(topic, handles.get(39));
        return null;
    }

    private static String collect(String namesrv, String topic) throws Exception {
        DefaultMQPushConsumer consumer = consumer(namesrv, "interop-collect");
        consumer.subscribe(topic, "*");
        consumer.start();
        Set<String> wanted = new ConcurrentSkipListSet<>();
        for (int i = 0; i < 39; i++) wanted.add("s" + i);
        if (!await(wanted, 40_000)) return "missing " + missing(wanted);
        Thread.sleep(3000);
        return arrived.containsKey("s39") ? "the recalled one came" : null;
    }
}
