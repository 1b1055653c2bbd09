import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.rocketmq.client.consumer.DefaultLitePullConsumer;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * TimerTakeover plant|check NAMESRV TOPIC PREFIX COUNT [again], against a broker with recallMessageEnable=true whose directory goes from one
 * kind of broker to another in between. Prints "ok ..." and ends with 0 when all is as it should be.
 *   plant   sends COUNT messages that are due one after the other, from 2 s on, 60 ms apart, and ten more that it calls back
 *   check   reads the topic until all COUNT are there and their times are over; each must be there once, or at least once with "again"
 */
public final class TimerTakeover {
    private static final long FIRST_MS = 2000, APART_MS = 60;

    public static void main(String[] args) throws Exception {
        String problem = args[0].equals("plant") ? plant(args[1], args[2], args[3], Integer.parseInt(args[4]))
                                                 : check(args[1], args[2], args[3], Integer.parseInt(args[4]), args.length > 5);
        System.out.println(problem == null ? "ok " + args[0] : "bad " + args[0] + ": " + problem);
        Runtime.getRuntime().halt(problem == null ? 0 : 1);
    }

    private static String plant(String namesrv, String topic, String prefix, int count) throws Exception {
        DefaultMQProducer producer = new DefaultMQProducer("interop-takeover");
        producer.setNamesrvAddr(namesrv);
        producer.setClientIP("127.0.0.1");
        producer.setPollNameServerInterval(1000);
        producer.setSendMsgTimeout(10_000);
        producer.setMqClientApiTimeout(10_000);
        producer.start();
        producer.send(new Message(topic, "tag", "plain".getBytes(StandardCharsets.UTF_8)));
        long begin = System.currentTimeMillis() + FIRST_MS;
        for (int i = 0; i < count; i++) send(producer, topic, prefix + i, begin + i * APART_MS);
        for (int i = 0; i < 10; i++) {
            SendResult sent = send(producer, topic, prefix + "recalled" + i, begin + count * APART_MS - 500 * i);
            producer.recallMessage(topic, sent.getRecallHandle());
        }
        long left = begin - System.currentTimeMillis();
        return left > 0 ? null : "it took too long by " + -left + " ms";
    }

    private static SendResult send(DefaultMQProducer producer, String topic, String name, long at) throws Exception {
        Message message = new Message(topic, "tag", name, (name + " " + at).getBytes(StandardCharsets.UTF_8));
        message.setDeliverTimeMs(at);
        return producer.send(message);
    }

    private static String check(String namesrv, String topic, String prefix, int count, boolean again) throws Exception {
        DefaultLitePullConsumer consumer = new DefaultLitePullConsumer("interop-takeover-" + System.nanoTime());
        consumer.setNamesrvAddr(namesrv);
        consumer.setAutoCommit(false);
        consumer.start();
        Collection<MessageQueue> queues = consumer.fetchMessageQueues(topic);
        consumer.assign(queues);
        for (MessageQueue queue : queues) consumer.seekToBegin(queue);
        Map<String, Integer> times = new TreeMap<>();
        List<String> early = new ArrayList<>();
        long end = System.currentTimeMillis() + 60_000, over = 0;
        while (System.currentTimeMillis() < end && (times.size() < count || System.currentTimeMillis() < over + 3000)) {
            for (MessageExt message : consumer.poll(200)) {
                String[] text = new String(message.getBody(), StandardCharsets.UTF_8).split(" ");
                if (!text[0].startsWith(prefix)) continue;
                times.merge(text[0], 1, Integer::sum);
                if (message.getStoreTimestamp() < Long.parseLong(text[1])) early.add(text[0]);
            }
            if (times.size() < count) over = System.currentTimeMillis();
        }
        consumer.shutdown();
        Set<String> missing = new HashSet<>();
        for (int i = 0; i < count; i++) if (!times.containsKey(prefix + i)) missing.add(prefix + i);
        if (!missing.isEmpty()) return missing.size() + " missing: " + missing;
        if (times.size() > count) return "a recalled one came: " + times.keySet();
        if (!early.isEmpty()) return "early: " + early;
        times.values().removeIf(n -> n == 1);
        System.out.println(times.size() + " came more than once");
        return times.isEmpty() || again ? null : "more than once: " + times;
    }
}
