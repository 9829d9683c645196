package payload

import "testing"

func Benchmark_ProtoMarshal_MerchantV38(b *testing.B)   { marshal(b, merchantV38) }
func Benchmark_ProtoUnmarshal_MerchantV38(b *testing.B) { unmarshal(b, merchantV38) }
func Benchmark_RedisSet_MerchantV38(b *testing.B)       { redisSet(b, merchantV38) }
func Benchmark_RedisGet_MerchantV38(b *testing.B)       { redisGet(b, merchantV38) }
