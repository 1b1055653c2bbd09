// Records what RocketMQ's own classes make of SQL92 selectors: tests/data/sql92/answers.txt.
//   java -cp 'DIR/*' RecordAnswers.java 4000 > answers.txt      (DIR: the jars of rocketmq-filter 5.3.3 and guava)
// A line is an outcome (T, F, N null, E fails, C does not compile), the properties and the selector, separated by tabs. Backslash escapes
// tabs, line breaks and itself; properties are name=value, separated by ';'. The series of random numbers is fixed.
import java.util.*;
import org.apache.rocketmq.filter.expression.*;
import org.apache.rocketmq.filter.parser.SelectorParser;

public class RecordAnswers {
    static final Random random = new Random(20240229);
    static final String[] NAMES = {"a", "b", "c", "TAGS", "_x", "$y1", "e5", "nota", "A"};
    static final String[] VALUES = {"5", "-5", "+5", " 5", "5 ", "05", "5.0", "5.5", ".5", "5.", "1e3", "1E-3", "NaN", "Infinity", "-Infinity",
        "abc", "true", "TRUE", "True", "false", "2147483647", "2147483648", "-2147483648", "9223372036854775807", "9223372036854775808",
        "0x1p3", "0x.8P-1", "0x1", "1.5f", "1.5D", "1d", "1e400", "-1e400", "1e-400", "4.9e-324", "0", "-0", "0.0", "-0.0", "x'y", "\u00fc\u00df", "ab",
        "+", "-", "+-5", "5L", "1_0", "nan", "'"};
    static final String[] NUMBERS = {"0", "1", "5", "5L", "5l", "10", "2147483647", "2147483648", "9223372036854775807",
        "1.5", "5.0", "1.", ".5", "1e3", "1.5E-3", "2e+2", "4.9E-324"};
    static final String[] BAD_NUMBERS = {"9223372036854775808", "1e400", "0.0", "1e-400", "05", "00", "1.5f", "1e"};
    static final String[] TEXTS = {"'abc'", "'5'", "''", "'x''y'", "'true'", "'TRUE'", "'a'", "'ab'", "'\u00fc'", "'--'", "'5.0'", "''''"};
    static final String[] ORDER = {">", ">=", "<", "<="};
    static final String[] BLANKS = {" ", "  ", "\t", "\n", " /* x */ ", " -- y\n", "\r\n", "\f", " /***/ "};
    static final String[] FIXED = {
        "", " ", "a", "TRUE", "false", "NULL", "5", "'a'", "a =", "= 5", "a = 5 b", "a == 5", "a != 5", "a > 5 AND", "(a > 5", "a > 5)", "a IN ()",
        "a IN (5)", "a IN 'x'", "5 IN ('x')", "a NOT b", "NOT", "a IS 5", "a IS NOT", "a LIKE 'x'", "a + 5 > 3", "a > --5", "a > --5\n3", "a > -5 -- end",
        "a > 5 /* open", "a = 'open", "a = 'x'' AND b = 'y", "NOT a = 'x'", "NOT (a = 'x')", "NOT NOT a", "NOT 5", "-a = 5", "-5 = a", "- - 5 = a", "+5 = a",
        "+'abc' = a", "-'abc' = a", "TRUE = a", "a = TRUE", "TRUE = 5", "5 = TRUE", "TRUE = TRUE", "TRUE <> FALSE", "'a' = TRUE", "'true' = TRUE",
        "TRUE = 'true'", "NULL = a", "a = NULL", "a <> NULL", "NULL IS NULL", "5 IS NULL", "a IS NULL IS NULL", "a IS NULL = TRUE", "a IS NOT NULL <> b",
        "a = b = c", "(a = b) = (b = c)", "a > b > c", "a > 'x'", "a > TRUE", "a > NULL", "(a > 5) > 3", "a BETWEEN 5 AND 1", "a BETWEEN 1 AND 5",
        "a BETWEEN 1.5 AND 1", "a NOT BETWEEN 5 AND 1", "a BETWEEN b AND c", "a BETWEEN -1 AND -5", "a BETWEEN 1 AND 'x'", "a BETWEEN NULL AND 5",
        "5 BETWEEN 1 AND a", "a BETWEEN 1 AND 5 AND b = 'abc'", "a BETWEEN 1 AND 5 BETWEEN 1 AND 2", "a BETWEEN TRUE AND FALSE", "(a) BETWEEN (1) AND (5)",
        "a CONTAINS ''", "a NOT CONTAINS ''", "a CONTAINS b", "'abc' CONTAINS 'b'", "5 CONTAINS '5'", "TRUE CONTAINS 't'", "NULL CONTAINS 'x'",
        "a STARTSWITH 'a' = TRUE", "a STARTSWITH 'a' ENDSWITH 'c'", "a CONTAINS 'b' > 5", "a IN ('a','b','c','d','e','5','abc') AND b IS NULL",
        "a NOT IN ('abc', 'x''y')", "a IN ('a') = TRUE", "a IN ('a') IN ('b')", "A = 'abc'", "a=5AND b=5", "a>5L", "a>5LL", "a>0x10", "a>05", "a>05.5", "a>5.e3",
        "a>5e", "e5 = '5'", "$y1 = '5'", "\u00fc = 'x'", "a = '\u00fc\u00df'", "a CONTAINS '\u00df'", "a.b = 'x'", "a-b = 'x'", "a - 5 = 0", "a AND b", "a OR b", "a AND TRUE",
        "a AND 5", "5 OR a", "a OR (b AND NOT c)", "NULL AND FALSE", "NULL AND TRUE", "NULL OR TRUE", "NULL OR FALSE", "NOT NULL", "not a is null", "NOT (a IS NULL)",
        "a is not null and b not in ('x') or c between 1 and 2", "((((a > 1))))", "(a)", "(5) > a", "('abc') = a", "a = (b)", "(TRUE) = a", "a = (TRUE)", "-(a) > 5",
        "-(TRUE) IS NULL", "-(a) IS NULL", "-NULL IS NULL", "-5 IS NULL", "a > -5.5", "a < -(-(5))", "a /**/ = /* * */ '5'", "a = 5;", "{a} = 5", "a = \"5\"", "a = 5 #",
        "a = 1.0E308", "a = 1.8E308", "TAGS IS NULL OR TAGS IN ('A', 'B')", "a > 5 and b = 'abc'", "a <= 5 or b <> 'abc'"};

    static String pick(String[] from) { return from[random.nextInt(from.length)]; }
    static String blank() { return random.nextInt(12) == 0 ? pick(BLANKS) : " "; }
    static String word(String w) {
        switch (random.nextInt(8)) { case 0: return w.toLowerCase(); case 1: return w.charAt(0) + w.substring(1).toLowerCase(); default: return w; }
    }

    static String value() {
        switch (random.nextInt(12)) {
            case 0: return pick(TEXTS);
            case 1: return word(random.nextBoolean() ? "TRUE" : "FALSE");
            case 2: return random.nextInt(4) == 0 ? word("NULL") : pick(NAMES);
            case 3: return "-" + pick(NUMBERS);
            case 4: return pick(NAMES);
            default: return random.nextBoolean() ? pick(NUMBERS) : pick(TEXTS);
        }
    }
    static String operand(int depth) {
        if (depth > 0 && random.nextInt(10) == 0) return "(" + expression(depth - 1) + ")";
        return random.nextInt(12) == 0 ? value() : pick(NAMES);
    }
    static String not() { return random.nextBoolean() ? word("NOT") + blank() : ""; }
    static String number() { return (random.nextInt(5) == 0 ? "-" : "") + pick(random.nextInt(30) == 0 ? BAD_NUMBERS : NUMBERS); }
    static String condition(int depth) {
        String left = operand(depth);
        switch (random.nextInt(12)) {
            case 0: return left + blank() + word("IS") + blank() + not() + word("NULL");
            case 1: {
                StringBuilder list = new StringBuilder(pick(TEXTS));
                for (int i = random.nextInt(8); i > 0; --i) list.append(",").append(pick(TEXTS));
                return left + blank() + not() + word("IN") + blank() + "(" + list + ")";
            }
            case 2: case 3: return left + blank() + not() + word("BETWEEN") + blank() + (random.nextInt(6) == 0 ? value() : number()) + blank()
                           + word("AND") + blank() + (random.nextInt(6) == 0 ? value() : number());
            case 4: return left + blank() + not() + word(pick(new String[] {"CONTAINS", "STARTSWITH", "ENDSWITH"})) + blank() + pick(TEXTS);
            case 5: case 6: case 7: return left + pick(ORDER) + (random.nextInt(4) == 0 ? operand(0) : number());
            case 8: return left;
            default: return left + blank() + (random.nextInt(3) == 0 ? "<>" : "=") + blank() + (random.nextInt(3) == 0 ? operand(depth) : value());
        }
    }
    static String expression(int depth) {
        String text = random.nextInt(6) == 0 ? word("NOT") + blank() + (random.nextBoolean() ? pick(NAMES) : "(" + condition(depth) + ")") : condition(depth);
        for (int i = random.nextInt(3); i > 0 && depth > 0; --i)
            text += blank() + word(random.nextBoolean() ? "AND" : "OR") + blank() + expression(depth - 1);
        return text;
    }
    static String damage(String text) {
        if (text.isEmpty()) return text;
        int at = random.nextInt(text.length());
        switch (random.nextInt(4)) {
            case 0: return text.substring(0, at) + text.substring(at + 1);
            case 1: return text.substring(0, at) + "()='<>-+,/*.5eL \n".charAt(random.nextInt(17)) + text.substring(at);
            case 2: return text.substring(0, at);
            default: return text.substring(at);
        }
    }

    static Map<String, String> properties() {
        Map<String, String> map = new TreeMap<>();
        for (String name : NAMES) if (random.nextInt(4) != 0) map.put(name, random.nextInt(3) == 0 ? "5" : pick(VALUES));
        return map;
    }
    static String escape(String text) { return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r").replace("\f", "\\f"); }

    static char outcome(String selector, Map<String, String> map) {
        BooleanExpression compiled;
        try {
            compiled = SelectorParser.parse(selector);
        } catch (Throwable e) {
            return 'C';
        }
        try {
            Object result = compiled.evaluate(new EvaluationContext() {
                public Object get(String name) { return map.get(name); }
                public Map<String, Object> keyValues() { return new HashMap<>(map); }
            });
            return result == null ? 'N' : (Boolean) result ? 'T' : 'F';
        } catch (Throwable e) {
            return 'E';
        }
    }
    static void record(StringBuilder out, String selector) {
        Map<String, String> map = properties();
        StringBuilder text = new StringBuilder();
        for (Map.Entry<String, String> e : map.entrySet()) text.append(e.getKey()).append('=').append(e.getValue()).append(';');
        out.append(outcome(selector, map)).append('\t').append(escape(text.toString())).append('\t').append(escape(selector)).append('\n');
    }
    public static void main(String[] args) throws Exception {
        StringBuilder out = new StringBuilder();
        for (String selector : FIXED) for (int i = 0; i < 4; ++i) record(out, selector);
        for (int i = Integer.parseInt(args[0]); i > 0; --i) {
            String selector = expression(2);
            record(out, random.nextInt(8) == 0 ? damage(selector) : selector);
        }
        System.out.write(out.toString().getBytes("UTF-8"));
        System.out.flush();
    }
}
