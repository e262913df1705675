// SPDX-License-Identifier: Apache-2.0
int scale = args[0] as int
def random = new Random(args[1] as long)
class Money {
  BigDecimal amount
  Money plus(Money other) { new Money(amount: amount + other.amount) }
  def methodMissing(String name, args) { "$name(${args.join(',')})" }
}
(60 * scale).times { round ->
  def people = (1..3000).collect { [name: "p${random.nextInt(500)}", age: random.nextInt(90)] }
  def groups = people.groupBy { it.name }.collectEntries { name, all ->
    [name, all*.age.sum() / all.size()]
  }
  def total = people.collect { new Money(amount: it.age * 1.25) }.inject { a, b -> a + b }
  assert total.amount == people*.age.sum() * 1.25
  assert total.nonsense(1, round) == "nonsense(1,$round)"
  def fib
  fib = { n -> n < 2 ? n : fib(n - 1) + fib(n - 2) }
  assert fib(16) == 987
  def text = new StringWriter()
  groups.sort { -it.value }.each { name, mean -> text << "${name}: ${mean as int}\n" }
  assert text.toString().readLines().every { it ==~ /p\d+: \d+/ }
  new GroovyShell(this.class.classLoader).evaluate("(1..$round).findAll { it % 3 == 0 }.sum()")
}
