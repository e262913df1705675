// SPDX-License-Identifier: Apache-2.0
// Stands in for the annotation of this name in OpenJDK's test/lib.
package jdk.test.lib.artifacts;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

@Retention(RetentionPolicy.RUNTIME)
public @interface Artifact {
  String organization();

  String name();

  String revision();

  String extension();

  boolean unpack() default true;
}
