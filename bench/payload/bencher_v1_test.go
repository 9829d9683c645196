package payload

import "testing"

func Benchmark_ProtoMarshal_MerchantV1(b *testing.B)   { marshal(b, merchantV1) }
func Benchmark_ProtoUnmarshal_MerchantV1(b *testing.B) { unmarshal(b, merchantV1) }
func Benchmark_RedisSet_MerchantV1(b *testing.B)       { redisSet(b, merchantV1) }
func Benchmark_RedisGet_MerchantV1(b *testing.B)       { redisGet(b, merchantV1) }
