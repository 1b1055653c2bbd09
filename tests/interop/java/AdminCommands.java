// Runs mqadmin commands against two clusters in the same state and compares what they print.
//   java AdminCommands.java COMMANDS WORK NS_A BROKER_A NS_B BROKER_B STORE
// COMMANDS: a command a line, {ns} {broker} {id} {client} {work} {data} filled in for each cluster. In front may stand: "!" run on both without comparing;
// "id" remember the message id that is printed; "expected REASON:" outputs differ for a reason that is documented, "expected@STORE REASON:" with that store of ours. "for SECONDS" what is printed until then
// counts, for commands that do not end by themselves: they stand last, because they go on. "wait SECONDS" waits,
// "online GROUP TOPIC" starts a consumer of the group, whose id is {client}, and a producer of the group EqProducers. A line for each
// command, the first differing lines below it, then "N of M equal".
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.tools.command.MQAdminStartup;

public class AdminCommands {
    static final PrintStream OUT = System.out;
    static final PrintStream ERR = System.err;
    static String data = "";   // where COMMANDS lies
    static final Pattern ID = Pattern.compile("\\b[0-9A-F]{32,56}\\b");

    static class Cluster {
        final String ns, broker, work;
        String id = "", client = "";
        Cluster(String ns, String broker, String work) { this.ns = ns; this.broker = broker; this.work = work; }

        void online(String group, String topic) throws Exception {
            DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(group);
            consumer.setNamesrvAddr(ns);
            consumer.setInstanceName("eq" + work.substring(work.length() - 1));
            consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
            consumer.subscribe(topic, "TagA || TagB");
            consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> ConsumeConcurrentlyStatus.CONSUME_SUCCESS);
            consumer.start();
            client = consumer.buildMQClientId();
            DefaultMQProducer producer = new DefaultMQProducer("EqProducers");
            producer.setNamesrvAddr(ns);
            producer.setInstanceName("eqp" + work.substring(work.length() - 1));
            producer.start();
            producer.send(new Message(topic, "TagA", "online", "from the producer".getBytes(StandardCharsets.UTF_8)),
                new MessageQueue(topic, "broker-a", 2));
        }

        String fill(String text) {
            return text.replace("{ns}", ns).replace("{broker}", broker).replace("{id}", id).replace("{work}", work).replace("{client}", client)
                .replace("{data}", data);
        }
    }

    static List<String> words(String line) {
        List<String> words = new ArrayList<>();
        Matcher m = Pattern.compile("'([^']*)'|(\\S+)").matcher(line);
        while (m.find()) words.add(m.group(1) != null ? m.group(1) : m.group(2));
        return words;
    }

    /** What the command prints, on both streams, within so many seconds; more than that is a fault unless it is endless. */
    static String run(Cluster cluster, String line, int seconds, boolean endless) throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        PrintStream stream = new PrintStream(bytes, true, "UTF-8");
        System.setOut(stream);
        System.setErr(stream);
        try {
            String[] args = words(cluster.fill(line)).toArray(new String[0]);
            // Some commands keep a producer that a run before has shut down; main0() makes all of them anew.
            Field known = MQAdminStartup.class.getDeclaredField("SUB_COMMANDS");
            known.setAccessible(true);
            ((List<?>) known.get(null)).clear();
            CompletableFuture<Void> done = CompletableFuture.runAsync(() -> MQAdminStartup.main0(args, null));
            try {
                done.get(seconds, TimeUnit.SECONDS);
                if (endless) stream.println("ENDED");
            } catch (java.util.concurrent.TimeoutException e) {
                if (!endless) stream.println("NO END WITHIN A MINUTE");
            } catch (java.util.concurrent.ExecutionException e) {
                stream.println("FAILS " + e.getCause());
            }
        } finally {
            System.setOut(OUT);
            System.setErr(ERR);
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }

    /** Times, addresses, ids, sizes that are the store's own, and rates are not compared; nor is the order of lines, which is that of hash tables. */
    static List<String> masked(Cluster cluster, String text) {
        return Arrays.stream(text.split("\n"))
            .map(l -> l.replace(cluster.work, "WORK").replaceAll("@eq(p?)[ab]\\b", "@eq$1"))
            .map(l -> l.replaceAll("\\b\\d{1,3}(\\.\\d{1,3}){3}:\\d+\\b", "ADDRESS").replaceAll("\\b\\d{1,3}(\\.\\d{1,3}){3}\\b", "IP"))
            .map(l -> l.replaceAll("\\d{4}-\\d\\d-\\d\\d[ #T]\\d\\d:\\d\\d:\\d\\d[,.:]?\\d*", "TIME").replaceAll("\\b1[5-9]\\d{11}\\b", "TIME"))
            .map(l -> l.replaceAll("\\b[0-9A-F]{32,56}\\b", "ID").replaceAll("\\brt=\\d+ms", "rt=Nms").replaceAll("spentTimeMills=\\d+", "spentTimeMills=N").replaceAll("\\b(true|false) +\\d+$", "$1 N"))
            .map(l -> l.replaceAll("\\b\\d+\\.\\d+(E-?\\d+)?\\b", "RATE"))
            .map(l -> l.replaceAll("(\"?(physicOffset|physicSize|CommitLogOffset|CommitLog Offset|storeSize|Store Size|sysFlag|counter|commitLogOffset)\"?[=: ]+)-?\\d+", "$1N"))
            .map(l -> sortedSets(l.replaceAll("\\s+", " ").trim()))
            .filter(l -> !l.isEmpty() && !l.startsWith("RocketMQLog:") && !l.startsWith("at ") && !l.startsWith("WARNING:") && !l.contains("|-"))
            .sorted().collect(Collectors.toList());
    }

    /** "[B, A]" as "[A, B]": sets are printed in any order. */
    static String sortedSets(String line) {
        return Pattern.compile("\\[([A-Z_]+(, [A-Z_]+)+)\\]").matcher(line).replaceAll(m ->
            "[" + Arrays.stream(m.group(1).split(", ")).sorted().collect(Collectors.joining(", ")) + "]");
    }

    static List<String> minus(List<String> a, List<String> b) {
        List<String> left = new ArrayList<>(a);
        for (String line : b) left.remove(line);
        return left;
    }

    public static void main(String[] args) throws Exception {
        Cluster a = new Cluster(args[2], args[3], args[1] + "/a");
        Cluster b = new Cluster(args[4], args[5], args[1] + "/b");
        Files.createDirectories(Path.of(a.work));
        Files.createDirectories(Path.of(b.work));
        data = Path.of(args[0]).toAbsolutePath().getParent().toString();
        String store = args[6];
        int equal = 0, all = 0, documented = 0;
        Set<String> seen = new TreeSet<>();
        for (String raw : Files.readAllLines(Path.of(args[0]))) {
            String line = raw.trim();
            if (line.isEmpty() || line.startsWith("#")) continue;
            if (line.startsWith("wait ")) {
                Thread.sleep(1000L * Integer.parseInt(line.substring(5).trim()));
                continue;
            }
            if (line.startsWith("online ")) {
                for (Cluster cluster : List.of(a, b)) cluster.online(words(line).get(1), words(line).get(2));
                continue;
            }
            boolean quiet = line.startsWith("!");
            boolean id = line.startsWith("id ");
            String reason = "";
            if (quiet) line = line.substring(1).trim();
            if (id) line = line.substring(3).trim();
            int seconds = 60;
            boolean endless = line.startsWith("for ");
            if (endless) {
                seconds = Integer.parseInt(words(line).get(1));
                line = line.substring(line.indexOf(' ', 4)).trim();
            }
            if (line.startsWith("expected")) {
                String word = line.substring(0, line.indexOf(' '));
                if (word.equals("expected") || word.equals("expected@" + store)) reason = line.substring(word.length() + 1, line.indexOf(':'));
                line = line.substring(line.indexOf(':') + 1).trim();
            }
            String fromA = run(a, line, seconds, endless), fromB = run(b, line, seconds, endless);
            if (id) {
                for (var pair : List.of(new Object[] {a, fromA}, new Object[] {b, fromB})) {
                    Matcher m = ID.matcher((String) pair[1]);
                    if (m.find()) ((Cluster) pair[0]).id = m.group();
                }
            }
            if (quiet) continue;
            List<String> left = masked(a, fromA), right = masked(b, fromB);
            seen.add(words(line).get(0));
            all++;
            if (left.equals(right)) {
                equal++;
                OUT.println("EQUAL " + line);
                continue;
            }
            if (!reason.isEmpty()) documented++;
            OUT.println((reason.isEmpty() ? "DIFFERS " : "DIFFERS (" + reason + ") ") + line);
            if (!reason.isEmpty()) continue;
            minus(left, right).stream().limit(6).forEach(l -> OUT.println("    java: " + l));
            minus(right, left).stream().limit(6).forEach(l -> OUT.println("    ours: " + l));
        }
        OUT.println(seen.size() + " commands in " + all + " calls: " + equal + " of " + all + " equal, " + documented + " differ as documented");
        System.exit(equal + documented == all ? 0 : 1);
    }
}
