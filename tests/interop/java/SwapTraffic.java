import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;

/**
 * SwapTraffic NAMESRV TOPIC: two senders that never send a message twice, a push consumer, and somebody who asks for statistics, until a
 * line comes on standard input. Prints "ready" when the first message has arrived; then, at the end, what was seen. Exit status 0 when no
 * send and no question failed, every message arrived, and none of them late.
 */
public final class SwapTraffic {
    private static final int SENDERS = 2;
    private static final long PATIENCE_MS = 3000;
    /** A long poll that was lost would be noticed by its client after fifteen seconds. */
    private static final long ARRIVAL_MS = 5000;

    private static final AtomicBoolean going = new AtomicBoolean(true);
    private static final AtomicInteger sent = new AtomicInteger();
    private static final AtomicInteger asked = new AtomicInteger();
    private static final AtomicInteger twice = new AtomicInteger();
    private static final AtomicLong slowestSend = new AtomicLong();
    private static final AtomicLong slowestArrival = new AtomicLong();
    /** What was sent earlier waited for the first rebalance. */
    private static volatile long measuredFrom = Long.MAX_VALUE;
    private static final Set<String> expected = ConcurrentHashMap.newKeySet();
    private static final Set<String> arrived = ConcurrentHashMap.newKeySet();
    private static final ConcurrentLinkedQueue<String> failures = new ConcurrentLinkedQueue<>();

    public static void main(String[] args) throws Exception {
        String namesrv = args[0], topic = args[1];
        DefaultMQProducer producer = new DefaultMQProducer("swap-producer");
        producer.setNamesrvAddr(namesrv);
        producer.setSendMsgTimeout((int) PATIENCE_MS);
        producer.setRetryTimesWhenSendFailed(0);
        producer.start();
        DefaultMQPushConsumer consumer = consumer(namesrv, topic);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < SENDERS; i++) threads.add(start(sender(producer, topic, i)));
        threads.add(start(asker(producer, topic)));
        await(60_000, () -> !arrived.isEmpty());
        measuredFrom = System.currentTimeMillis();
        System.out.println("ready");
        new BufferedReader(new InputStreamReader(System.in)).readLine();
        going.set(false);
        for (Thread thread : threads) thread.join();
        await(30_000, () -> arrived.containsAll(expected));
        consumer.shutdown();
        producer.shutdown();
        Set<String> missing = ConcurrentHashMap.newKeySet();
        missing.addAll(expected);
        missing.removeAll(arrived);
        failures.stream().limit(3).forEach(line -> System.out.println("failure: " + line));
        boolean good = failures.isEmpty() && missing.isEmpty() && sent.get() > 0 && asked.get() > 0 && slowestArrival.get() < ARRIVAL_MS;
        System.out.printf("%s: %d sent, %d failed, %d missing, %d twice, %d asked; slowest send %d ms, slowest arrival %d ms%n", good ? "ok" : "bad",
            sent.get(), failures.size(), missing.size(), twice.get(), asked.get(), slowestSend.get(), slowestArrival.get());
        Runtime.getRuntime().halt(good ? 0 : 1);
    }

    private static DefaultMQPushConsumer consumer(String namesrv, String topic) throws Exception {
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer("swap-consumer");
        consumer.setNamesrvAddr(namesrv);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.subscribe(topic, "*");
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            for (MessageExt message : messages) {
                if (!arrived.add(new String(message.getBody(), StandardCharsets.UTF_8))) twice.incrementAndGet();
                if (message.getBornTimestamp() > measuredFrom) slowestArrival.accumulateAndGet(System.currentTimeMillis() - message.getBornTimestamp(), Math::max);
            }
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
        return consumer;
    }

    private static Runnable sender(DefaultMQProducer producer, String topic, int number) {
        return () -> {
            for (int i = 0; going.get(); i++) {
                String name = number + "-" + i;
                long began = System.nanoTime();
                try {
                    if (producer.send(new Message(topic, name.getBytes(StandardCharsets.UTF_8))).getSendStatus() != SendStatus.SEND_OK) {
                        failures.add("send " + name + " was not stored as it should be");
                    }
                    expected.add(name);
                    sent.incrementAndGet();
                } catch (Exception failed) {
                    failures.add("send " + name + ": " + failed);
                }
                slowestSend.accumulateAndGet((System.nanoTime() - began) / 1_000_000, Math::max);
                pause(1);
            }
        };
    }

    /** Questions to the name server and, through the admin plugin, to the broker. */
    private static Runnable asker(DefaultMQProducer producer, String topic) {
        return () -> {
            org.apache.rocketmq.tools.admin.DefaultMQAdminExt admin = new org.apache.rocketmq.tools.admin.DefaultMQAdminExt(PATIENCE_MS);
            admin.setNamesrvAddr(producer.getNamesrvAddr());
            admin.setInstanceName("asker");
            try {
                admin.start();
                while (going.get()) {
                    if (arrived.isEmpty()) {
                        pause(10);
                        continue;
                    }
                    admin.examineTopicStats(topic);
                    asked.incrementAndGet();
                    pause(5);
                }
            } catch (Exception failed) {
                failures.add("admin: " + failed);
            }
            admin.shutdown();
        };
    }

    private static Thread start(Runnable work) {
        Thread thread = new Thread(work);
        thread.start();
        return thread;
    }

    private static void pause(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException ended) {
            going.set(false);
        }
    }

    private static void await(long ms, java.util.function.BooleanSupplier condition) throws Exception {
        for (long end = System.nanoTime() + ms * 1_000_000; !condition.getAsBoolean() && System.nanoTime() < end; ) Thread.sleep(20);
    }
}
