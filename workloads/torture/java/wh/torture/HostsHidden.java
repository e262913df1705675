// SPDX-License-Identifier: Apache-2.0
package wh.torture;

import java.lang.invoke.MethodHandles;

/** A class whose lookup can define hidden classes that live as long as the class's loader. */
public interface HostsHidden {
  MethodHandles.Lookup lookup();
}
