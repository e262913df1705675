// SPDX-License-Identifier: Apache-2.0
#include "harness/hs_err/testing/planted_secrets.h"

#include <utility>

namespace walkhammer {
namespace {

// Tokens are in parts, so that no scanner of sources takes them for real ones.
const PlantedSecret kSecrets[] = {
    {"-Ddb.password=Hunter2x7", {"Hunter2x7"}},
    {"--db-pass s3cr3tQ", {"s3cr3tQ"}},
    {"-p hunter3Z", {"hunter3Z"}},
    {"--api-token=t0kenV4lue", {"t0kenV4lue"}},
    {"API_KEY=ap1keyV4l", {"ap1keyV4l"}},
    {"\"password\": \"kp4ssQuoted\"", {"kp4ssQuoted"}},
    {"password=\\\"kp4ssEscaped\\\"", {"kp4ssEscaped"}},
    {"--token 'two w0rds'", {"two w0", "w0rds"}},
    {"pwd: pw4colon", {"pw4colon"}},
    {"passphrase = pw5spaced", {"pw5spaced"}},
    {"<secret>x6element</secret>", {"x6element"}},
    {"identified by 'sql7word'", {"sql7word"}},
    {"Authorization: Bearer b34r3rV4lue", {"b34r3rV4lue"}},
    {"Authorization: Basic YmFzaWM6bG9naW4", {"YmFzaWM6bG9naW4"}},
    {"-Dtls.storepass=st0reP", {"st0reP"}},
    {"username=\"kuser8\" password=\"kpass8\"", {"kuser8", "kpass8"}},
    {"AccountKey=YWNjb3VudGtleQ==", {"YWNjb3VudGtleQ"}},
    {"curl -u alice9:pw9curl", {"alice9", "pw9curl"}},
    {"https://bob10:pw10x@vault-10.example.org/v1", {"bob10", "pw10x", "vault-10"}},
    {"jdbc:oracle:thin:scott11/tiger11@//dbhost11:1521/x", {"scott11", "tiger11", "dbhost11"}},
    {"sqlplus scott12/tiger12@proddb12", {"scott12", "tiger12", "proddb12"}},
    {"mongodb://m13a:27017,m13b:27017/db", {"m13a", "m13b"}},
    {"redis://redis-14:6379/0", {"redis-14"}},
    {"gh"
     "p_0123456789abcdefghijABCDEFGHIJ012345",
     {"0123456789abcdefghij"}},
    {"gh"
     "o_1123456789abcdefghijABCDEFGHIJ012345",
     {"1123456789abcdefghij"}},
    {"gh"
     "s_2123456789abcdefghijABCDEFGHIJ012345",
     {"2123456789abcdefghij"}},
    {"github"
     "_pat_11ABCDEFG0123456789abc_defghijklmnop",
     {"11ABCDEFG0123456789"}},
    {"glpat"
     "-x1y2z3a4b5c6d7e8f9g0",
     {"x1y2z3a4b5c6"}},
    {"xoxb"
     "-123456789012-abcdefABCDEF",
     {"123456789012-abc"}},
    {"AKIA"
     "QWERTYUIOPAS1234",
     {"QWERTYUIOPAS1234"}},
    {"ASIA"
     "ZXCVBNMASDFG5678",
     {"ZXCVBNMASDFG5678"}},
    {"ey"
     "JhbGciOiJIUzI1NiJ9.ey"
     "JzdWIiOiIxIn0.c2lnbmF0dXJl",
     {"JhbGciOiJI", "JzdWIiOiIx", "c2lnb"}},
    {"hvs"
     ".CAESIJ1a2b3c4d5e6f7g8h9i",
     {"CAESIJ1a2b3c"}},
    {"sk_live"
     "_4eC39HqLyjWDarjtT1zdp7dc",
     {"4eC39HqLyjWD"}},
    {"sk"
     "-proj-A1b2C3d4E5f6G7h8I9j0K1l2",
     {"A1b2C3d4E5f6"}},
    {"AI"
     "zaSyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q",
     {"SyA1b2C3d4"}},
    {"npm"
     "_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8",
     {"A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"}},
    {"pypi"
     "-AgEIcHlwaS5vcmcCJDAxMjM0NTY3",
     {"AgEIcHlwaS5v"}},
    {"-----BEGIN RSA PRIVATE "
     "KEY-----MIIEpQ39a/b+c==-----END RSA PRIVATE KEY-----",
     {"MIIEpQ39a"}},
    {"192.168.17.40", {"192.168.17.40"}},
    {"2001:db8:0:41::7", {"2001:db8:0:41"}},
    {"00:1b:44:11:3a:b7", {"44:11:3a"}},
    {"jane43.doe@example.org", {"jane43", "example.org"}},
    {"Access denied for user 'app_rw44'@'10.44.0.3'", {"app_rw44", "10.44.0.3"}},
    {"/home/jroe45/work", {"jroe45"}},
    {"/nfs/users/jroe46/work", {"jroe46"}},
    {"/kubepods/burstable/pod47a1b2c3-d4e5-f607-1829-3a4b5c6d7e8f", {"47a1b2c3", "3a4b5c6d7e8f"}},
    {"cri-containerd-"
     "48a1b2c3d4e5f60718293a4b5c6d7e8f48a1b2c3d4e5f60718293a4b5c6d7e8f.scope",
     {"48a1b2c3d4e5f6"}},
    {"db-prod-49.corp.example.com:5432", {"db-prod-49", "corp.example"}},
    {"node-50.internal/10.50.0.3:9092", {"node-50", "10.50.0.3"}},
    {"28-internal-adhoc.alice51.jdk", {"alice51"}},
};

constexpr PlantingPlace kPlaces[] = {
    {"command line", "Command Line:", "Command Line: -Xmx64m $ Main"},
    {"arguments of the JVM", "VM Arguments:", "jvm_args: -Xint $ -XX:+UseZGC"},
    {"value of -D", "VM Arguments:", "jvm_args: -Dplain=$ -Xmx1g"},
    {"main class", "VM Arguments:", "java_command: com.corp.Main $"},
    {"class path", "VM Arguments:", "java_class_path (initial): /opt/app.jar;$;/opt/b.jar"},
    {"path", "VM Arguments:", "java_class_path (initial): /opt/app.jar $"},
    {"options of an agent", "VM Arguments:", "jvm_args: -agentpath:/opt/libagent.so=start,$"},
    {"flag with a command", "VM Arguments:", "jvm_args: -XX:OnError=$"},
    {"launcher", "VM Arguments:", "Launcher Type: $"},
    {"environment", "Environment Variables:", "JAVA_TOOL_OPTIONS=$", Writing::kPlain, true},
    {"other variable", "Environment Variables:", "CORP_VALUE=$", Writing::kPlain, true},
    {"thread's name", "Java Threads:",
     "  0x00007f6fb8042740 JavaThread \"worker $\" daemon [_thread_blocked, id=4711, "
     "stack(0x00007f6fbd29b000,0x00007f6fbd39b000) (1024K)]"},
    {"exception", "Internal exceptions",
     "Event: 0.500 Thread 0x00007f6fb801a040 Exception <a 'java/sql/SQLException'"
     "{0x00000000ff710ac0}: $> (0x00000000ff710ac0)"},
    {"event of loading", "Events (", "Event: 0.600 loading class $ done"},
    {"event", "Events (", "Event: 0.700 Thread 0x00007f6fb801a040 $"},
    {"string", "Register to memory", " - string: \"$\"", Writing::kPlain, true},
    {"field", "Register to memory",
     " - private 'name' 'Ljava/lang/String;' @44  \"$\"{0x00000000ff710ac0} (0xff710ac0)",
     Writing::kPlain, true},
    {"memory", "Register to memory", "  points into readable memory: $"},
    {"query of a URL", "", "GET https://bugs.openjdk.org/path?q=$&x=1"},
    {"line in JSON", "", R"({"log":"app says $ now\n","stream":"stdout"})", Writing::kJson},
    {"lines in JSON", "", R"({"message":"one\nvalue: $\nthree","level":3})", Writing::kJson},
    {"value in JSON", "", R"({"level":"info","detail":"$"})", Writing::kJson},
    {"JSON in JSON", "", R"({"log":"{\"level\":\"info\",\"detail\":\"a\\n$\\nb\"}\n"})",
     Writing::kJsonInJson},
    {"text out of JSON", "", R"(#\n# one\n$\nthree\n)", Writing::kJson},
    {"time before it", "", "2026-11-24T13:15:02.123Z INFO app started with $"},
    {"log of Spring", "", "2026-05-04T10:11:12.123Z ERROR 1 --- [main] com.corp.App : $"},
    {"log of a pod", "", "[pod/app/app] $"},
    {"log of compose", "", "app_1  | $"},
    {"log of a cloud", "", "ERROR 2026-01-08T11:23:12.225Z [resource.labels.container: app] $"},
    {"syslog", "", "Nov 24 13:15:02 web java[4711]: $"},
    {"mail", "", "> > $"},
    {"HTML", "", "<span class=\"quote\">&gt; $</span><br>", Writing::kHtml},
    {"Markdown", "", "`$`"},
    {"double quotes", "", "args: \"$\""},
    {"single quotes", "", "export VALUE='$'"},
    {"round brackets", "", "tried ($)"},
    {"square brackets", "", "[$]"},
    {"curly brackets", "", "{$}"},
    {"list", "", "first,$,last"},
    {"list with blanks", "", "first, $; last"},
    {"tab", "", "value\t$\tnext"},
    {"property", "", "corp.value=$"},
    {"YAML", "", "  - $"},
    {"XML", "", "<arg>$</arg>", Writing::kHtml},
    {"compilation", "", "C2:  1234   56 %     4       com.corp.Main::run @ 12 (34 bytes) $"},
    {"mapping", "Dynamic libraries:",
     "7f0000000000-7f0000001000 r-xp 00000000 08:01 12                         $"},
    {"gdb", "", "argv = {0x7ffd1 \"java\", 0x7ffd2 \"$\"}"},
    {"coredumpctl", "", "  Command Line: java $ Main"},
    {"log4j", "", "13:15:02.123 [main] WARN  c.c.App - $"},
    {"cause", "", "Caused by: java.lang.IllegalStateException: $"},
    {"cgroup", "", "cgroup: 12:memory $"},
};

constexpr std::string_view kInnocents[] = {
    "-XX:+UseZGC",
    "-XX:MaxHeapSize=4294967296",
    "-XX:CompileCommand=exclude,wh.*::interp*",
    "-XX:ClassSignature=a",
    "-XX:NativeMemoryTracking=summary",
    "-agentlib:jdwp=transport=dt_socket,server=y,suspend=n",
    "-server -Xmx64m",
    "--module-path=/opt/mods",
    "frame::sender_for_entry_frame(RegisterMap*) const+0xb5",
    "[libjvm.so+0x6c5e95]",
    "ConcurrentHashTable<SymbolTableConfig, (MEMFLAGS)10>::get_node",
    "AsyncGetCallTrace+0x22a",
    "std::pair<Key, Token>::first",
    "SharedRuntime::find_callee_info_helper",
    "libasyncProfiler.so",
    "0x00007fb1c6cd2f94",
    "si_addr: 0x0000000000000070",
    "RAX=0xfffffffffffffff8, RBX=0x00007f6fbddfb0e0",
    "[0x00007f2a40000000,0x00007f2a40100000]",
    "17.0.15+6-Debian-1deb12u1",
    "jdk-17.0.2.1+8",
    "java.base@21.0.13.0",
    "28-internal+1234",
    "SIGSEGV (0xb)",
    "java.lang.Integer.toString(I)Ljava/lang/String;+12",
    "com.corp.TokenFilter.doFilter(TokenFilter.java:123)",
    "jdk.internal.misc.Unsafe.park(ZJ)V",
    "java/net/URL sun/nio/ch/Net",
    "com/corp/Main@1a2b3c",
    "{method} {0x00007f00} 'key' '()V' in 'a/B'",
    "JDK-8352649",
    "https://bugs.openjdk.org/browse/JDK-8352649",
    "2026-10-08T07:01:49Z",
    "13:15:02",
    "[Times: user=0.01 sys=0.00, real=0.01 secs]",
    "GC(12) Pause Young (Normal) 25M->4M(64M) 3.1ms",
    "r-xp 00000000 08:01",
    "Linux 6.1.0-13-amd64",
    "/usr/lib/jvm/java-17-openjdk-amd64/lib/server/libjvm.so",
    "127.0.0.1:8080",
    "localhost:5005",
    "passes 3 of 4, bypasses none",
    "libnet.so.1.2.3.4",
};

std::string Replaced(std::string_view text,
                     std::initializer_list<std::pair<char, std::string_view>> by) {
  std::string out;
  for (const char c : text) {
    std::string_view now(&c, 1);
    for (const auto& [from, to] : by)
      if (from == c) now = to;
    out += now;
  }
  return out;
}

std::string Written(std::string_view text, Writing writing) {
  const auto in_json = [](std::string_view one) {
    return Replaced(one, {{'"', "\\\""}, {'\\', "\\\\"}});
  };
  switch (writing) {
    case Writing::kPlain:
      return std::string(text);
    case Writing::kJson:
      return in_json(text);
    case Writing::kJsonInJson:
      return in_json(in_json(text));
    case Writing::kHtml:
      return Replaced(text, {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}});
  }
  return {};
}

}  // namespace

std::span<const PlantedSecret> PlantedSecrets() { return kSecrets; }
std::span<const PlantingPlace> PlantingPlaces() { return kPlaces; }
std::span<const std::string_view> PlantedInnocents() { return kInnocents; }

std::string Planted(const std::string& log, const PlantingPlace& place, std::string_view text) {
  std::string line = place.line;
  line.replace(line.find('$'), 1, Written(text, place.writing));
  const std::string after = std::string("\n") + place.after;
  const size_t before = *place.after == '\0' ? log.npos : log.find(after);
  const size_t end = before == log.npos ? log.npos : log.find('\n', before + 1);
  std::string planted = log;
  if (end == log.npos)
    planted += line + "\n";
  else
    planted.insert(end + 1, line + "\n");
  return planted;
}

}  // namespace walkhammer
