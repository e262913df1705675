// SPDX-License-Identifier: Apache-2.0
package applications.walkhammer;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import jdk.test.lib.artifacts.Artifact;
import jdk.test.lib.artifacts.ArtifactResolver;
import jtreg.SkippedException;

/**
 * Runs walkhammer on the JDK under test: its arguments are a verb with options, and --time is
 * replaced by the property walkhammer.time. The artifact, a release's tarball or the folder that it
 * unpacks to, is named by -Djdk.test.lib.artifacts.walkhammer=PATH. The JVM options -X... of the
 * jtreg run are given to the JVMs that are walked. harness.sh of the release judges; runs and JUnit
 * XML lie in the scratch folder. A failed run prints its first new findings with their requests, for
 * many servers keep nothing but the .jtr file.
 */
@Artifact(organization = "walkhammer", name = "walkhammer", revision = "0.2.0",
          extension = "tar.gz", unpack = true)
public class WalkhammerRunner {
  private static final int PASSED = 0;
  private static final int UNABLE = 3;
  private static final String HARNESS = "lib/walkhammer/ci/harness.sh";
  // The first findings that are new, in a run's summary.
  private static final Pattern SHOWN = Pattern.compile("\\s+.*walkhammer'? show (\\S+\\.walk)");

  public static void main(String[] args) throws Exception {
    if (args[0].equals("fuzz") && isDebugBuild()) {
      throw new SkippedException("asserts of a debug build end walks of synthetic stacks, which"
          + " release builds answer; walkhammer's other tests are for both");
    }
    List<String> said = new ArrayList<>();
    int code = execute(line(harness(), args), said);
    if (code == UNABLE) {
      throw new SkippedException("walkhammer cannot do this here: see the end of its output");
    }
    if (code != PASSED) {
      printFindings(said);
      throw new RuntimeException("walkhammer failed: see its output");
    }
  }

  /** Whether the JDK under test says so. A property vm.debug is known in OpenJDK's tree alone. */
  private static boolean isDebugBuild() throws Exception {
    List<String> said = new ArrayList<>();
    execute(List.of(System.getProperty("test.jdk") + "/bin/java", "-version"), said);
    return said.stream().anyMatch(line -> line.contains("debug build "));
  }

  private static void printFindings(List<String> said) throws IOException {
    for (String line : said) {
      Matcher shown = SHOWN.matcher(line);
      if (shown.matches()) {
        Path input = Path.of(shown.group(1));
        System.out.println(Files.readString(input.resolveSibling("explain.txt")));
        System.out.println("--- " + input + "\n" + Files.readString(input));
      }
    }
  }

  private static String harness() throws Exception {
    Path artifact =
        unpacked(ArtifactResolver.resolve(WalkhammerRunner.class).values().iterator().next());
    // The tarball has one top folder; an artifact may be that folder, or the one around it.
    try (Stream<Path> files = Files.walk(artifact, 5)) {
      return files.filter(file -> file.endsWith(HARNESS))
          .findFirst()
          .orElseThrow(() -> new Error(HARNESS + " is not in " + artifact))
          .toString();
    }
  }

  /** The artifact, if it is a folder; a tarball is unpacked into the scratch folder. */
  private static Path unpacked(Path artifact) throws Exception {
    if (Files.isDirectory(artifact)) {
      return artifact;
    }
    Path folder = Files.createDirectories(Path.of("walkhammer.unpacked"));
    List<String> tar = List.of("tar", "-xf", artifact.toString(), "-C", folder.toString());
    if (execute(tar, new ArrayList<>()) != 0) {
      throw new Error(artifact + " cannot be unpacked");
    }
    return folder;
  }

  private static List<String> line(String harness, String[] args) {
    List<String> line = new ArrayList<>(List.of("sh", harness, "."));
    line.addAll(Arrays.asList(args));
    int time = line.indexOf("--time");
    if (time >= 0) {
      line.set(time + 1, System.getProperty("walkhammer.time", line.get(time + 1)));
    }
    line.addAll(List.of("--jdk", System.getProperty("test.jdk")));
    if (!args[0].equals("bugs")) { // each issue has flags of its own
      line.add("--");
      String options = System.getProperty("test.vm.opts", "") + " "
          + System.getProperty("test.java.opts", "");
      Arrays.stream(options.split("\\s+")).filter(o -> o.startsWith("-X")).forEach(line::add);
    }
    return line;
  }

  /** Runs a program, whose output is this one's, and goes to `said`, too. */
  private static int execute(List<String> line, List<String> said) throws Exception {
    System.out.println("+ " + String.join(" ", line));
    Process process = new ProcessBuilder(line).redirectErrorStream(true).start();
    // If the driver is ended, so is walkhammer, in order, and the shell around it ends. After a driver
    // that jtreg kills by force, at a timeout, walkhammer ends when its own time is over.
    Runtime.getRuntime().addShutdownHook(
        new Thread(() -> process.children().forEach(ProcessHandle::destroy)));
    try (BufferedReader output =
             new BufferedReader(new InputStreamReader(process.getInputStream()))) {
      for (String text = output.readLine(); text != null; text = output.readLine()) {
        System.out.println(text);
        said.add(text);
      }
    }
    return process.waitFor();
  }
}
