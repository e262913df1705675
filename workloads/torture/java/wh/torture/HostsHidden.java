// SPDX-License-Identifier: Apache-2.0
package wh.torture;

import java.lang.invoke.MethodHandles;

/** What can define hidden classes that live as long as its own loader. */
public interface HostsHidden {
  MethodHandles.Lookup lookup();
}
