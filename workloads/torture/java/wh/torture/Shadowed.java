// SPDX-License-Identifier: Apache-2.0
package wh.torture;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Marks an instrumented method: it enters and leaves the shadow stack with this id. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
@interface Shadowed {
  int value();
}
