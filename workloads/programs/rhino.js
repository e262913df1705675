// SPDX-License-Identifier: Apache-2.0
var scale = +arguments[0], state = +arguments[1];
function pick(n) { state = (state * 69069 + 12345) % 4294967296; return state % n; }
function Vector(x, y, z) { this.x = x; this.y = y; this.z = z; }
Vector.prototype.plus = function (o) { return new Vector(this.x + o.x, this.y + o.y, this.z + o.z); };
function must(condition) { if (!condition) { print("wrong result"); quit(1); } }
for (var round = 0; round < 12 * scale; round++) {
  var list = [], seen = {};
  for (var i = 0; i < 20000; i++) list.push(pick(100000));
  list.sort(function (a, b) { return a - b; });
  for (var i = 1; i < list.length; i++) must(list[i - 1] <= list[i]);
  list.forEach(function (n) { seen["k" + n % 500] = (seen["k" + n % 500] || 0) + 1; });
  must(JSON.stringify(JSON.parse(JSON.stringify(seen))) === JSON.stringify(seen));
  var sum = list.map(function (n) { return new Vector(n, n % 7, 1); })
    .reduce(function (a, b) { return a.plus(b); });
  must(sum.z === list.length);
  var caught = 0;
  for (var i = 0; i < 2000; i++) try { null.x; } catch (e) { caught++; }
  must(caught === 2000);
  must(eval("(function f(n) { return n < 2 ? n : f(n - 1) + f(n - 2); })(18)") === 2584);
  var text = list.slice(0, 3000).join(" ").replace(/(\d)(\d+)/g, "$2$1");
  print(round + " " + text.length);
}
