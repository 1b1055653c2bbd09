import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;

/**
 * RoundTrip send|receive|both NAMESRV TOPIC COUNT: sends COUNT numbered messages (every tenth as a batch of three), or receives
 * them, or both, and checks that each arrives with its own body, tag, key and property. Exit status 0 when all did.
 */
public final class RoundTrip {
    private static final Map<String, String> received = new ConcurrentHashMap<>();

    public static void main(String[] args) throws Exception {
        String mode = args[0], namesrv = args[1], topic = args[2];
        int count = Integer.parseInt(args[3]);
        boolean good = true;
        if (!mode.equals("receive")) send(namesrv, topic, count);
        if (!mode.equals("send")) good = receive(namesrv, topic, count);
        System.out.println((good ? "ok" : "bad") + " " + mode + " " + count);
        Runtime.getRuntime().halt(good ? 0 : 1);
    }

    private static Message message(String topic, String name) {
        Message message = new Message(topic, "Tag" + name.hashCode() % 3, "key-" + name, ("body of " + name).getBytes(StandardCharsets.UTF_8));
        message.putUserProperty("name", name);
        return message;
    }

    private static Map<String, String> expected(int count) {
        Map<String, String> all = new HashMap<>();
        for (int i = 0; i < count; i++) {
            if (i % 10 != 9) all.put("m" + i, "body of m" + i);
            else for (String part : new String[] {"a", "b", "c"}) all.put("m" + i + part, "body of m" + i + part);
        }
        return all;
    }

    private static void send(String namesrv, String topic, int count) throws Exception {
        DefaultMQProducer producer = new DefaultMQProducer("interop-producer");
        producer.setNamesrvAddr(namesrv);
        producer.setClientIP("127.0.0.1");
        producer.setPollNameServerInterval(1000);
        producer.setSendMsgTimeout(10_000);
        producer.start();
        for (int i = 0; i < count; i++) {
            SendStatus status;
            if (i % 10 != 9) {
                status = producer.send(message(topic, "m" + i)).getSendStatus();
            } else {
                List<Message> batch = new ArrayList<>();
                for (String part : new String[] {"a", "b", "c"}) batch.add(message(topic, "m" + i + part));
                status = producer.send(batch).getSendStatus();
            }
            if (status != SendStatus.SEND_OK) throw new IllegalStateException("message " + i + ": " + status);
        }
        producer.shutdown();
    }

    private static boolean receive(String namesrv, String topic, int count) throws Exception {
        Map<String, String> expected = expected(count);
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer("interop-consumer-" + System.currentTimeMillis());
        consumer.setNamesrvAddr(namesrv);
        consumer.setClientIP("127.0.0.1");
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.subscribe(topic, "*");
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            for (MessageExt m : messages) received.put(m.getUserProperty("name"), new String(m.getBody(), StandardCharsets.UTF_8));
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (received.size() < expected.size() && System.nanoTime() < deadline) Thread.sleep(50);
        consumer.shutdown();
        if (received.equals(expected)) return true;
        System.out.println("received " + received.size() + " of " + expected.size());
        return false;
    }
}
