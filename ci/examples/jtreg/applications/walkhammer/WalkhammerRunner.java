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
import java.util.stream.Collectors;
import java.util.stream.Stream;
import jdk.test.lib.artifacts.Artifact;
import jdk.test.lib.artifacts.ArtifactResolver;
import jtreg.SkippedException;

/**
 * Runs walkhammer on the JDK under test: its arguments are a verb with options, and --time is
 * replaced by the property walkhammer.time. The artifact, a release's tarball or the folder that it
 * unpacks to, is named by -Djdk.test.lib.artifacts.walkhammer=PATH. The JVM options -X... of the
 * jtreg run are given to the JVMs that are walked. Runs lie in the scratch folder; a failed one
 * prints its first findings with their requests, for many servers keep nothing but the .jtr file.
 */
@Artifact(organization = "walkhammer", name = "walkhammer", revision = "0.2.0",
          extension = "tar.gz", unpack = true)
public class WalkhammerRunner {
  private static final int CLEAN = 0;
  private static final int UNABLE = 3;
  // The first findings that are new, in a run's summary.
  private static final Pattern SHOWN = Pattern.compile("\\s+walkhammer show (\\S+\\.walk)");
  // A row of `bugs check`: replays show what this version should have fixed.
  private static final Pattern BACK = Pattern.compile("\\s+\\S+\\s+AFFECTED\\s+no\\s.*");

  public static void main(String[] args) throws Exception {
    String command = command().toString();
    if (execute(List.of(command, "--version")).code != CLEAN) {
      throw new SkippedException("this walkhammer does not run on this machine");
    }
    if (args[0].equals("bugs")) {
      judgeIssues(execute(line(command, args)));
    } else {
      judgeRun(execute(line(command, args)));
    }
  }

  private static void judgeIssues(Outcome outcome) {
    List<String> back =
        outcome.lines.stream().filter(BACK.asMatchPredicate()).collect(Collectors.toList());
    if (!back.isEmpty()) {
      throw new RuntimeException("known issues are back: " + back);
    }
    if (outcome.lines.stream().noneMatch(line -> line.startsWith("  affected by "))) {
      failOrSkip(outcome.code);
    }
  }

  private static void judgeRun(Outcome outcome) throws IOException {
    if (outcome.code != CLEAN) {
      printFindings(outcome);
      failOrSkip(outcome.code);
    }
  }

  private static void failOrSkip(int code) {
    if (code == UNABLE) {
      throw new SkippedException("walkhammer cannot do this here: see its last line");
    }
    throw new RuntimeException("walkhammer ended with " + code);
  }

  private static void printFindings(Outcome outcome) throws IOException {
    for (String line : outcome.lines) {
      Matcher shown = SHOWN.matcher(line);
      if (shown.matches()) {
        Path input = Path.of(shown.group(1));
        System.out.println(Files.readString(input.resolveSibling("explain.txt")));
        System.out.println("--- " + input + "\n" + Files.readString(input));
      }
    }
  }

  private static Path command() throws Exception {
    Path artifact =
        unpacked(ArtifactResolver.resolve(WalkhammerRunner.class).values().iterator().next());
    // The tarball has one top folder; an artifact may be that folder, or the one around it.
    try (Stream<Path> files = Files.walk(artifact, 3)) {
      return files.filter(file -> file.endsWith("bin/walkhammer") && Files.isExecutable(file))
          .findFirst()
          .orElseThrow(() -> new Error("there is no bin/walkhammer in " + artifact))
          .toAbsolutePath();
    }
  }

  /** The artifact, if it is a folder; a tarball is unpacked into the scratch folder. */
  private static Path unpacked(Path artifact) throws Exception {
    if (Files.isDirectory(artifact)) {
      return artifact;
    }
    Path folder = Files.createDirectories(Path.of("walkhammer.unpacked"));
    List<String> tar = List.of("tar", "-xf", artifact.toString(), "-C", folder.toString());
    if (execute(tar).code != 0) {
      throw new Error(artifact + " cannot be unpacked");
    }
    return folder;
  }

  private static List<String> line(String command, String[] args) {
    List<String> line = new ArrayList<>(List.of(command));
    line.addAll(Arrays.asList(args));
    int time = line.indexOf("--time");
    if (time >= 0) {
      line.set(time + 1, System.getProperty("walkhammer.time", line.get(time + 1)));
    }
    line.addAll(List.of("--jdk", System.getProperty("test.jdk")));
    if (!args[0].equals("bugs")) { // each issue has flags of its own
      line.addAll(List.of("--out", "walkhammer." + args[0], "--"));
      String options = System.getProperty("test.vm.opts", "") + " "
          + System.getProperty("test.java.opts", "");
      Arrays.stream(options.split("\\s+")).filter(o -> o.startsWith("-X")).forEach(line::add);
    }
    return line;
  }

  private static final class Outcome {
    final int code;
    final List<String> lines;

    Outcome(int code, List<String> lines) {
      this.code = code;
      this.lines = lines;
    }
  }

  /** Runs a program, whose output is this one's, too. If the driver is ended, so is the program. */
  private static Outcome execute(List<String> line) throws Exception {
    System.out.println("+ " + String.join(" ", line));
    Process process;
    try {
      process = new ProcessBuilder(line).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    } catch (IOException error) { // of another architecture, or without its loader
      System.out.println(error.getMessage());
      return new Outcome(UNABLE, List.of());
    }
    Runtime.getRuntime().addShutdownHook(new Thread(process::destroy));
    List<String> lines = new ArrayList<>();
    try (BufferedReader output =
             new BufferedReader(new InputStreamReader(process.getInputStream()))) {
      for (String text = output.readLine(); text != null; text = output.readLine()) {
        System.out.println(text);
        lines.add(text);
      }
    }
    return new Outcome(process.waitFor(), lines);
  }
}
