// SPDX-License-Identifier: Apache-2.0
// Stands in for the class of this name in OpenJDK's test/lib, without a repository to download from:
// the property jdk.test.lib.artifacts.NAME says where an artifact is, as it does there.
package jdk.test.lib.artifacts;

import java.io.FileNotFoundException;
import java.nio.file.Path;
import java.util.Map;

public class ArtifactResolver {
  public static Map<String, Path> resolve(Class<?> user) throws FileNotFoundException {
    Artifact artifact = user.getAnnotation(Artifact.class);
    String property = "jdk.test.lib.artifacts." + artifact.name();
    String path = System.getProperty(property);
    if (path == null) {
      throw new FileNotFoundException("give -D" + property + "=PATH");
    }
    String key = artifact.organization() + "." + artifact.name() + "-" + artifact.revision();
    return Map.of(key, Path.of(path));
  }
}
